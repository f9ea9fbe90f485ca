// Texts that are rejected, each with one sentence, and unusual ones that are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "data/text/text_reader.h"
#include "read_tokens.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using namespace std::string_literals;
using test::Bytes;
using test::bytes_of;
using test::cut;
using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Bytes flipped(Bytes bytes, std::size_t at) {
    bytes[at] ^= 0x5A;
    return bytes;
}

struct BadText {
    const char* name;
    const char* file;  // added to the valid train.txt and test.txt, or replaces one
    Bytes content;
    const char* path;  // the path that is opened; "" is the folder
    const char* sentence;
};

class BadTextFile : public ::testing::TestWithParam<BadText> {};

TEST_P(BadTextFile, IsRefusedWithOneSentence) {
    const TempFolder folder;
    folder.write("train.txt", "a b c d\n");
    folder.write("test.txt", "a b\n");
    folder.write(GetParam().file, GetParam().content);
    for (const char* kind : {"text-words", "text-chars"}) {
        const auto config = test::dataset(kind, {(folder / GetParam().path).string()});
        const auto error = test::data_error([&] { read_tokens(config); });
        EXPECT_THAT(error, HasSubstr(GetParam().sentence));
        EXPECT_THAT(error, HasSubstr(folder.str()));
        EXPECT_EQ(error.find(". "), std::string::npos) << "more than one sentence: " << error;
    }
}

std::string long_text() {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919 % 1000) + " ";
    return text;
}

INSTANTIATE_TEST_SUITE_P(
    Text, BadTextFile,
    ::testing::Values(
        BadText{"Empty", "train.txt", {}, "", "train.txt: the file is empty"},
        BadText{"EmptyTest", "test.txt", {}, "", "test.txt: the file is empty"},
        BadText{"EmptyGzip", "a.gz", test::gzip({}), "a.gz", "a.gz: the file is empty"},
        BadText{"EmptyXz", "a.xz", test::xz({}), "a.xz", "a.xz: the file is empty"},
        BadText{"OnlyAMark", "a.txt", {0xEF, 0xBB, 0xBF}, "a.txt", "holds no text"},
        BadText{"OnlySpaces", "a.txt", bytes_of("  \t \n"), "a.txt",
                "a.txt: holds no text, only white space"},
        BadText{"OnlyLineEnds", "train.txt", bytes_of("\r\n\r\n\n"), "", "holds no text"},
        BadText{"Nul", "train.txt", bytes_of("a b\nc\0d\n"s), "",
                "train.txt, line 2: contains a NUL byte"},
        BadText{"NulAtTheEnd", "a.txt", bytes_of("a b\n\0"s), "a.txt", "line 2: contains a NUL"},
        BadText{"Latin1", "train.txt", bytes_of("a b\nna\xEFve c\n"), "",
                "train.txt, line 2: not valid UTF-8 at byte 3 of the line"},
        BadText{"Continuation", "a.txt", bytes_of("\x80 a"), "a.txt",
                "line 1: not valid UTF-8 at byte 1 of the line"},
        BadText{"CutCharacter", "a.txt", bytes_of("a b\ncd\xE6\xBC"), "a.txt",
                "line 2: not valid UTF-8 at byte 3 of the line"},
        BadText{"Overlong", "a.txt", bytes_of("ab\xC0\xAF"), "a.txt", "not valid UTF-8 at byte 3"},
        BadText{"Surrogate", "a.txt", bytes_of("\xED\xA0\xBD"), "a.txt", "not valid UTF-8"},
        BadText{"BeyondUnicode", "a.txt", bytes_of("a\xF4\x90\x80\x80"), "a.txt",
                "not valid UTF-8 at byte 2"},
        BadText{"Utf16",
                "a.txt",
                {0xFF, 0xFE, 'a', 0, ' ', 0},
                "a.txt",
                "line 1: begins with the byte order mark of UTF-16"},
        BadText{"Utf16BigEndian", "a.txt", {0xFE, 0xFF, 0, 'a'}, "a.txt", "UTF-16"},
        BadText{"Utf16WithoutMark", "a.txt", {'a', 0, '\n', 0}, "a.txt", "line 1: contains a NUL"},
        BadText{"CutGzip", "a.gz", cut(test::gzip(bytes_of(long_text())), 300), "a.gz",
                "a.gz: cut short: its gzip data end too early"},
        BadText{"DamagedGzip", "a.gz", flipped(test::gzip(bytes_of(long_text())), 200), "a.gz",
                "a.gz: damaged: its gzip data cannot be unpacked"},
        BadText{"CutXz", "a.xz", cut(test::xz(bytes_of(long_text())), 300), "a.xz",
                "a.xz: cut short: its xz data end too early"},
        BadText{"DamagedXz", "a.xz", flipped(test::xz(bytes_of(long_text())), 200), "a.xz",
                "a.xz: damaged: its xz data cannot be unpacked"},
        BadText{"Image",
                "a.txt",
                {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0},
                "a.txt",
                "line 1: not valid UTF-8 at byte 1 of the line"},
        BadText{"MissingFile", "b.txt", bytes_of("a b"), "absent.txt", "absent.txt: no such file"},
        BadText{"MissingFolder", "b.txt", bytes_of("a b"), "absent", "absent: no such file"},
        BadText{"FolderWithoutTexts", "sub/b.csv", bytes_of("a b"), "sub", "no text files here"},
        BadText{"FolderWithoutTrain", "sub/test.txt", bytes_of("a b"), "sub",
                "sub: no text file with \"train\" in its name here"},
        BadText{"TwoTrainTexts", "train2.txt", bytes_of("a b"), "",
                "train2.txt: both names contain \"train\""},
        BadText{"TwoPartsInOneName", "val.test.txt", bytes_of("a b"), "",
                "val.test.txt: its name contains both \"val\" and \"test\""}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST(BadText, RefusesATrainingPartWithoutAnythingToPredict) {
    const TempFolder folder;
    const auto file = folder.write("a.txt", "x");
    EXPECT_THAT(test::data_error([&] { read_tokens(test::dataset("text-chars", {file})); }),
                HasSubstr("a.txt: the training part has fewer than 2 tokens"));
    auto config = test::dataset("text-words", {folder.write("b.txt", "a b c d e\n")});
    config.train_limit = 1;
    EXPECT_THAT(test::data_error([&] { read_tokens(config); }),
                HasSubstr("has fewer than 2 tokens"));
    config.train_limit = 0;
    config.options["test_share"] = 0.9;
    EXPECT_THAT(test::data_error([&] { read_tokens(config); }),
                HasSubstr("has fewer than 2 tokens"));
}

TEST(BadText, RefusesAValidationPartWithoutAnythingToPredict) {
    const TempFolder folder;
    auto config = test::dataset("text-chars", {folder.write("a.txt", "abcdefghijk")});
    config.validation_share = 0.1;
    try {
        read_tokens(config);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_STREQ(error.what(),
                     "dataset.validation_share: 0.1: the validation part would have fewer than 2 "
                     "tokens");
    }
    folder.write("sub/train.txt", "abc");
    folder.write("sub/valid.txt", "a");
    config = test::dataset("text-chars", {(folder / "sub").string()});
    EXPECT_THAT(test::data_error([&] { read_tokens(config); }),
                HasSubstr("valid.txt: fewer than 2 tokens, so there is nothing to predict"));
}

TEST(BadText, RefusesAPathThatIsNotThereOrStandsBesideAFolder) {
    const TempFolder folder;
    folder.write("train.txt", "a b\n");
    EXPECT_THAT(test::data_error([&] { read_tokens(test::dataset("text-words", {})); }),
                HasSubstr("no path is given"));
    const auto file = folder.write("a.txt", "a b\n");
    EXPECT_THAT(test::data_error([&] {
                    read_tokens(test::dataset("text-words", {file, folder.str()}));
                }),
                HasSubstr("a folder in a list of several paths"));
}

TEST(BadText, RefusesAWordOfMoreThan16Mebibytes) {
    const TempFolder folder;
    const std::string text = "a\nb " + std::string((std::size_t{16} << 20) + 1, 'x') + " c\n";
    const auto file = folder.write("a.txt", text);
    EXPECT_THAT(test::data_error([&] { read_tokens(test::dataset("text-words", {file})); }),
                HasSubstr("a.txt, line 2: a word of more than 16 MiB"));
    EXPECT_EQ(read_tokens(test::dataset("text-chars", {file})).vocabulary.size(), 6);
}

TEST(BadText, IsRefusedOrReadWhateverItsBytesAre) {
    const TempFolder folder;
    std::mt19937 random(1);
    const std::string alphabet = "ab \n\r\t\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E\xFF\0"s;
    int read_well = 0;
    for (int i = 0; i < 240; ++i) {
        std::string text;
        const auto used = i % 2 == 0 ? alphabet.size() : 6;
        for (auto left = random() % 30 + 1; left > 0; --left) text += alphabet[random() % used];
        auto config =
            test::dataset(i % 4 < 2 ? "text-words" : "text-chars", {folder.write("a", text)});
        config.validation_share = i % 3 == 0 ? 0.3 : 0;
        try {
            const auto tokens = read_tokens(config);
            EXPECT_GE(tokens.train, 2);
            for (const auto token : tokens.tokens) ASSERT_LT(token, tokens.vocabulary.size());
            ++read_well;
        } catch (const Error& error) {
            EXPECT_TRUE(error.code() == ErrorCode::data || config.validation_share > 0);
        }
    }
    EXPECT_GT(read_well, 50);
}

/// Reads the whole file as the training part.
TextTokens read_odd(const TempFolder& folder, const char* kind, const std::string& text) {
    auto config = test::dataset(kind, {folder.write("odd.txt", text)});
    config.options["test_share"] = 0.0;
    return read_tokens(config);
}

TEST(OddText, MayHaveAWordOfAMegabyte) {
    const TempFolder folder;
    const auto text = read_odd(folder, "text-words", "a\nb " + std::string(1'000'000, 'x') + "\n");
    EXPECT_EQ(text.vocabulary.words[3].size(), 1'000'000U);
    ASSERT_EQ(text.warnings.size(), 1U);
    EXPECT_THAT(text.warnings[0].str(),
                HasSubstr("odd.txt, line 2: the longest word has 1000000 characters"));
}

TEST(OddText, MayHaveLineEndsOfWindows) {
    const TempFolder folder;
    EXPECT_THAT(read_odd(folder, "text-words", "a b\r\nc\r\n").tokens, ElementsAre(0, 1, 2, 3, 2));
    EXPECT_THAT(read_odd(folder, "text-chars", "a\r\nb").vocabulary.words,
                ElementsAre("\n", "a", "b"));
}

TEST(OddText, MayHaveLineEndsOfOldMacsAndAMixture) {
    const TempFolder folder;
    const auto plain = read_odd(folder, "text-words", "a b\nc\n\nd\n").tokens;
    for (const char* text :
         {"a b\rc\r\rd\r", "a b\r\nc\r\n\r\nd\r\n", "a b\rc\n\r\nd", "a b\nc\r\rd\r\n"})
        EXPECT_EQ(read_odd(folder, "text-words", text).tokens, plain) << text;
    EXPECT_THAT(read_odd(folder, "text-chars", "a\rb\r\nc\n").vocabulary.words,
                ElementsAre("\n", "a", "b", "c"));
}

TEST(OddText, MayHaveUnusualSpaces) {
    const TempFolder folder;
    for (const char* space : {"\u00A0", "\u3000", "\u2003", "\u202F", "\u2009", "\u2028", "\u0085",
                              "\u1680", "\u205F", "\x1F"}) {
        const std::string text = std::string("a") + space + "b" + space + space + "é" + space;
        const auto words = read_odd(folder, "text-words", text + "漢");
        EXPECT_THAT(words.vocabulary.words, ElementsAre("a", "b", "é", "漢", "<eos>")) << space;
        const bool told = std::string_view(space).size() > 1;
        ASSERT_EQ(words.warnings.size(), told ? 1U : 0U) << space;
        if (told) {
            EXPECT_THAT(words.warnings[0].str(), HasSubstr("4 no-break or other unusual spaces"));
        }
    }
    const auto characters = read_odd(folder, "text-chars", "a b\u00A0c\u3000");
    EXPECT_EQ(characters.vocabulary.size(), 6);
    ASSERT_EQ(characters.warnings.size(), 1U);
    EXPECT_THAT(characters.warnings[0].str(), HasSubstr("unusual spaces (U+00A0, U+3000)"));
    // No white space: a zero-width space, a mathematical letter, a kana.
    EXPECT_EQ(read_odd(folder, "text-words", "a\u200Bb \u2061x \u3001y").vocabulary.size(), 4);
}

TEST(OddText, HasNoByteOrderMarkAtTheBeginningOfALine) {
    const TempFolder folder;
    for (const char* text :
         {"the\n\uFEFFthe cat\n", "\uFEFFthe\r\n\uFEFFthe cat\r\n", "the\r\uFEFFthe cat"})
        EXPECT_THAT(read_odd(folder, "text-words", text).tokens, ElementsAre(0, 1, 0, 2, 1))
            << text;
    EXPECT_THAT(read_odd(folder, "text-chars", "\uFEFFa\n\uFEFFb").vocabulary.words,
                ElementsAre("\n", "a", "b"));
    EXPECT_THAT(read_odd(folder, "text-words", "a \uFEFF b").vocabulary.words,
                ElementsAre("a", "\uFEFF", "b", "<eos>"))
        << "WikiText-2 has 36 words of it";
}

TEST(OddText, MayEndWithoutALineEnd) {
    const TempFolder folder;
    EXPECT_EQ(read_odd(folder, "text-words", "a b\nc").tokens,
              read_odd(folder, "text-words", "a b\nc\n").tokens);
    EXPECT_THAT(read_odd(folder, "text-words", "a b\n ").tokens, ElementsAre(0, 1, 2, 2));
}

TEST(OddText, MayBeginWithAByteOrderMark) {
    const TempFolder folder;
    EXPECT_THAT(read_odd(folder, "text-words", "\xEF\xBB\xBFthe cat").vocabulary.words,
                ElementsAre("the", "cat", "<eos>"));
}

TEST(OddText, MayHaveASingleDistinctWordOrCharacter) {
    const TempFolder folder;
    const auto words = read_odd(folder, "text-words", "a a a a\na\n");
    ASSERT_EQ(words.warnings.size(), 1U);
    EXPECT_THAT(words.warnings[0].str(), HasSubstr("has a single distinct word"));
    const auto characters = read_odd(folder, "text-chars", "aaaa");
    ASSERT_EQ(characters.warnings.size(), 1U);
    EXPECT_THAT(characters.warnings[0].str(), HasSubstr("has a single distinct character"));
}

TEST(OddText, MayBeTooShortForATestPart) {
    const TempFolder folder;
    const auto text =
        read_tokens(test::dataset("text-chars", {folder.write("odd.txt", "abcdefghijk")}));
    EXPECT_EQ(text.train, 10);
    EXPECT_EQ(text.test, 0);
    EXPECT_EQ(text.tokens.size(), 10U);
    ASSERT_EQ(text.warnings.size(), 1U);
    EXPECT_THAT(text.warnings[0].str(), HasSubstr("odd.txt: too short for a test part"));
}

TEST(OddText, MayLackATestText) {
    const TempFolder folder;
    folder.write("train.txt", "a b\n");
    folder.write("valid.txt", "a b\n");
    const auto text = read_tokens(test::dataset("text-words", {folder.str()}));
    EXPECT_EQ(text.test, 0);
    ASSERT_EQ(text.warnings.size(), 1U);
    EXPECT_THAT(text.warnings[0].str(), HasSubstr("no test text here"));
}

TEST(OddText, MayHaveBlankLinesControlCharactersAndItsOwnMarks) {
    const TempFolder folder;
    EXPECT_THAT(read_odd(folder, "text-words", "\n\na \x01 b\n").tokens,
                ElementsAre(0, 0, 1, 2, 3, 0));
    EXPECT_THAT(read_odd(folder, "text-words", "a <eos> <unk>\n").vocabulary.words,
                ElementsAre("a", "<eos>", "<unk>"));
    EXPECT_THAT(read_odd(folder, "text-chars", "漢字かな").warnings, IsEmpty());
}

TEST(OddText, MayHaveAnyNameAndUnusualCharacters) {
    const TempFolder folder;
    auto config = test::dataset("text-chars", {folder.write("文 章.md", "a😀\uFFFD\u2028b")});
    config.options["test_share"] = 0.0;
    EXPECT_THAT(read_tokens(config).vocabulary.words,
                ElementsAre("a", "b", "\u2028", "\uFFFD", "😀"));
}

}  // namespace
}  // namespace engine
