#include "data/text/text_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/data_fixtures.h"

namespace engine {
namespace {

using namespace std::string_literals;
using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TextFiles, FindsTheFileOfEachPartByItsName) {
    const TempFolder folder;
    for (const char* name : {"wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens.gz",
                             "README.md", "training.log", "notes.txt"})
        folder.write(name, "a b\n");
    const auto files = find_text_files({folder.str()});
    EXPECT_TRUE(files.joined.empty());
    EXPECT_EQ(files.train, folder / "wiki.train.tokens");
    EXPECT_EQ(files.validation, folder / "wiki.valid.tokens");
    EXPECT_EQ(files.test, folder / "wiki.test.tokens.gz");
}

TEST(TextFiles, TakesNamesWithoutAnExtensionAndInCapitals) {
    const TempFolder folder;
    for (const char* name : {"corpus.train", "VAL.TXT", "test", "train.png"})
        folder.write(name, "a b\n");
    const auto files = find_text_files({folder.str()});
    EXPECT_EQ(files.train, folder / "corpus.train");
    EXPECT_EQ(files.validation, folder / "VAL.TXT");
    EXPECT_EQ(files.test, folder / "test");
}

TEST(TextFiles, TakesAPlainFileBeforeItsPackedTwin) {
    const TempFolder folder;
    folder.write("train.txt.gz", test::gzip({'a', '\n'}));
    folder.write("train.txt", "a b\n");
    EXPECT_EQ(find_text_files({folder.str()}).train, folder / "train.txt");
}

TEST(TextFiles, JoinsFilesInTheOrderOfTheList) {
    const auto files = find_text_files({"b.txt", "a.md"});
    EXPECT_THAT(files.joined, ElementsAre("b.txt", "a.md"));
    EXPECT_TRUE(files.train.empty());
}

TEST(TextFiles, RefusesWhatIsAmbiguous) {
    const TempFolder folder;
    const auto error = [&] { return test::data_error([&] { find_text_files({folder.str()}); }); };
    folder.write("test.txt", "a b\n");
    EXPECT_THAT(error(), HasSubstr(folder.str() + ": no text file with \"train\" in its name"));
    folder.write("train-1.txt", "a b\n");
    folder.write("train-2.txt", "a b\n");
    EXPECT_THAT(error(),
                HasSubstr((folder / "train-1.txt").string() + " and " +
                          (folder / "train-2.txt").string() + ": both names contain \"train\""));
    std::filesystem::remove(folder / "train-2.txt");
    folder.write("val-train.txt", "a b\n");
    EXPECT_THAT(error(), HasSubstr("val-train.txt: its name contains both \"train\" and \"val\""));
}

TEST(TextRecognition, TellsTextsByTheirNamesAndBeginnings) {
    const TempFolder folder;
    folder.write("words/train.txt", "a b\n");
    folder.write("words/valid.txt", "a b\n");
    EXPECT_EQ(recognise_text(folder / "words"), "text-words");
    EXPECT_EQ(recognise_text(folder.write("a.txt", "Once upon a time\n")), "text-chars");
    EXPECT_EQ(recognise_text(folder.write("b.text.gz", test::gzip({'h', 'i'}))), "text-chars");
    EXPECT_EQ(recognise_text(folder.write("c.tokens", "the <unk> of\n")), "text-words");
}

TEST(TextRecognition, LooksAtTheFirst64KibibytesOnly) {
    const TempFolder folder;
    const std::string start((std::size_t{64} << 10) - 1, 'a');
    EXPECT_EQ(recognise_text(folder.write("a.txt", start + "é <unk> \xFF")), "text-chars");
    EXPECT_EQ(recognise_text(folder.write("b.txt", start + "\xFF")), "");
}

TEST(TextRecognition, LeavesOtherThingsAlone) {
    const TempFolder folder;
    EXPECT_EQ(recognise_text(folder / "absent.txt"), "");
    EXPECT_EQ(recognise_text(folder.path()), "");
    EXPECT_EQ(recognise_text(folder.write("a.txt", "a\0b"s)), "");
    EXPECT_EQ(recognise_text(folder.write("b.txt", "")), "");
    EXPECT_EQ(recognise_text(folder.write("c.csv", "a,b\n1,2\n")), "");
    EXPECT_EQ(recognise_text(folder.write("d.txt.gz", "\x1F\x8Bnot gzip")), "");
    folder.write("alone/train.txt", "a b\n");
    EXPECT_EQ(recognise_text(folder / "alone"), "");
    folder.write("pickles/train", "\x80\x02}q\0"s);
    folder.write("pickles/test", "\x80\x02}q\0"s);
    EXPECT_EQ(recognise_text(folder / "pickles"), "");
    folder.write("idx/train-images-idx3-ubyte", test::idx_images(1));
    folder.write("idx/train-labels-idx1-ubyte", test::idx_labels(1));
    EXPECT_EQ(recognise_text(folder / "idx"), "");
}

TEST(TextRecognition, KnowsTheRealTexts) {
    SKIP_WITHOUT_DATA("wikitext-2");
    SKIP_WITHOUT_DATA("tinyshakespeare");
    EXPECT_EQ(recognise_text(HALFTONE_DATA_DIR "/wikitext-2"), "text-words");
    EXPECT_EQ(recognise_text(HALFTONE_DATA_DIR "/wikitext-2/test.txt.gz"), "text-words");
    EXPECT_EQ(recognise_text(HALFTONE_DATA_DIR "/tinyshakespeare/input.txt"), "text-chars");
    EXPECT_EQ(recognise_text(HALFTONE_DATA_DIR "/fashion-mnist"), "");
    EXPECT_EQ(recognise_text(HALFTONE_DATA_DIR "/hymenoptera-mini"), "");
}

}  // namespace
}  // namespace engine
