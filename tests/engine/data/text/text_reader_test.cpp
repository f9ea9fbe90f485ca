#include "data/text/text_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/byte_reader.h"
#include "read_tokens.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test_support::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> warning_sentences(const TextTokens& text) {
    std::vector<std::string> out;
    for (const auto& warning : text.warnings) out.push_back(warning.str());
    return out;
}

/// The sizes of the three parts.
std::vector<std::int64_t> sizes(const TextTokens& text) {
    EXPECT_EQ(static_cast<std::int64_t>(text.tokens.size()),
              text.train + text.validation + text.test);
    return {text.train, text.validation, text.test};
}

/// A text of `count` characters that repeats "abcdefghij".
std::string ten_letters(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text.push_back(static_cast<char>('a' + i % 10));
    return text;
}

TEST(TextReader, SplitsASingleFileByItsShares) {
    const TempFolder folder;
    auto config = test::dataset("text-chars", {folder.write("a.txt", ten_letters(1000))});
    EXPECT_THAT(sizes(read_tokens(config)), ElementsAre(900, 0, 100));
    config.validation_share = 0.2;
    const auto text = read_tokens(config);
    EXPECT_THAT(sizes(text), ElementsAre(720, 180, 100));
    for (std::size_t i = 0; i < 1000; ++i)
        ASSERT_EQ(text.tokens[i], static_cast<std::int32_t>(i % 10));
    EXPECT_THAT(text.warnings, IsEmpty());
    config.options["test_share"] = 0.0;
    EXPECT_THAT(sizes(read_tokens(config)), ElementsAre(800, 200, 0));
}

TEST(TextReader, LimitsThePartsBeforeItSplitsOffTheValidationPart) {
    const TempFolder folder;
    auto config = test::dataset("text-chars", {folder.write("a.txt", ten_letters(1000))});
    config.train_limit = 105;
    config.test_limit = 7;
    config.validation_share = 0.2;
    const auto text = read_tokens(config);
    EXPECT_THAT(sizes(text), ElementsAre(84, 21, 7));
    EXPECT_EQ(text.tokens[84], 4);
    // The test part begins at character 900.
    EXPECT_EQ(text.tokens[105], 0);
}

TEST(TextReader, JoinsSeveralFilesInTheirOrder) {
    const TempFolder folder;
    auto config = test::dataset("text-words", {folder.write("b", "x y"), folder.write("a", "z\n")});
    config.options["test_share"] = 0.0;
    const auto text = read_tokens(config);
    EXPECT_THAT(text.vocabulary.words, ElementsAre("x", "y", "<eos>", "z"));
    EXPECT_THAT(text.tokens, ElementsAre(0, 1, 2, 3, 2));
}

TEST(TextReader, TakesThePartsOfAFolderFromItsFiles) {
    const TempFolder folder;
    folder.write("train.txt", "a b c\n");
    folder.write("valid.txt", "b a\n");
    folder.write("test.txt", "c\n");
    auto config = test::dataset("text-words", {folder.str()});
    config.validation_share = 0.5;  // the folder's own validation file takes precedence
    const auto text = read_tokens(config);
    EXPECT_THAT(sizes(text), ElementsAre(4, 3, 2));
    EXPECT_THAT(text.tokens, ElementsAre(0, 1, 2, 3, 1, 0, 3, 2, 3));
    EXPECT_THAT(text.warnings, IsEmpty());
}

TEST(TextReader, SplitsTheTrainingTextOfAFolderWithoutAValidationText) {
    const TempFolder folder;
    folder.write("train", ten_letters(100));
    folder.write("test", ten_letters(50));
    auto config = test::dataset("text-chars", {folder.str()});
    config.validation_share = 0.25;
    config.train_limit = 80;
    config.test_limit = 20;
    EXPECT_THAT(sizes(read_tokens(config)), ElementsAre(60, 20, 20));
}

TEST(TextReader, ALimitedTrainingPartHasAVocabularyOfItsOwn) {
    const TempFolder folder;
    folder.write("train.txt", "a b c d e f\n");
    folder.write("test.txt", "a f\n");
    auto config = test::dataset("text-words", {folder.str()});
    config.train_limit = 3;
    const auto text = read_tokens(config);
    EXPECT_THAT(text.vocabulary.words, ElementsAre("a", "b", "c", "<unk>"));
    EXPECT_THAT(text.tokens, ElementsAre(0, 1, 2, 0, 3, 3));
}

TEST(TextReader, AppliesTheOptionsOfItsKind) {
    const TempFolder folder;
    auto config = test::dataset("text-words", {folder.write("a.txt", "The the A b a\n")});
    config.options = {{"lowercase", true}, {"min_count", std::int64_t{2}}, {"test_share", 0.0}};
    EXPECT_THAT(read_tokens(config).vocabulary.words, ElementsAre("the", "a", "<eos>", "<unk>"));
    config.options = {{"max_words", std::int64_t{1}}, {"test_share", 0.0}};
    EXPECT_THAT(read_tokens(config).vocabulary.words, ElementsAre("The", "<eos>", "<unk>"));
    config.kind = "text-chars";
    config.options = {{"lowercase", true}, {"min_count", std::int64_t{3}}, {"test_share", 0.0}};
    EXPECT_THAT(read_tokens(config).vocabulary.words, ElementsAre(" ", "<unk>"));
}

TEST(TextReader, CountsUnknownWordsInOneWarning) {
    const TempFolder folder;
    folder.write("train.txt", "a b\n");
    folder.write("valid.txt", "a x\n");
    folder.write("test.txt", "y a b z b\n");
    EXPECT_THAT(warning_sentences(read_tokens(test::dataset("text-words", {folder.str()}))),
                ElementsAre(folder.str() +
                            ": 3 of the 9 tokens of the validation and test parts (33.33 %) are "
                            "not in the vocabulary of the training part and became <unk>"));
}

TEST(TextReader, HoldsNoMoreThanItsMemory) {
    const TempFolder folder;
    const auto config = test::dataset("text-chars", {folder.write("a", ten_letters(1 << 20))});
    TextReading reading = text_reading(config);
    EXPECT_GE(reading.max_bytes, std::size_t{1} << 30);
    reading.max_bytes = std::size_t{2} << 20;
    EXPECT_THAT(test::data_error([&] { read_text(config, reading); }),
                HasSubstr("too large: the tokens up to here take more than 2 MiB of memory"));
    // Memory for the words counts too: 8,000 that occur once.
    std::string words;
    for (int i = 0; i < 8000; ++i) words += std::to_string(i) + " ";
    const auto many = test::dataset("text-words", {folder.write("b", words)});
    reading = text_reading(many);
    reading.max_bytes = std::size_t{1} << 20;
    EXPECT_THAT(test::data_error([&] { read_text(many, reading); }), HasSubstr("too large"));
}

TEST(TextReader, StopsSoonAfterItWasAsked) {
    const TempFolder folder;
    const auto config = test::dataset("text-chars", {folder.write("a", ten_letters(1 << 20))});
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(read_text(config, text_reading(config), stop.get_token()), ReadingStopped);
}

TEST(TextReader, ReadsTheRealWikiText2AsPyTorchsExampleDoes) {
    SKIP_WITHOUT_DATA("wikitext-2");
    const auto text = read_tokens(test::dataset("text-words", {HALFTONE_DATA_DIR "/wikitext-2"}));
    EXPECT_THAT(sizes(text), ElementsAre(2088628, 217646, 245569));
    ASSERT_EQ(text.vocabulary.size(), 33278);
    const auto& words = text.vocabulary.words;
    EXPECT_THAT(std::vector(words.begin(), words.begin() + 11),
                ElementsAre("<eos>", "=", "Valkyria", "Chronicles", "III", "Senjō", "no", "3", ":",
                            "<unk>", "("));
    EXPECT_THAT(std::vector(text.tokens.begin(), text.tokens.begin() + 14),
                ElementsAre(0, 1, 2, 3, 4, 1, 0, 0, 5, 6, 2, 7, 8, 9));
    EXPECT_EQ(text.vocabulary.counts[0], 36718);
    EXPECT_EQ(text.vocabulary.counts[9], 54625);
    EXPECT_THAT(text.warnings, IsEmpty());
}

TEST(TextReader, ReadsTheRealTinyShakespeare) {
    SKIP_WITHOUT_DATA("tinyshakespeare");
    const auto text =
        read_tokens(test::dataset("text-chars", {HALFTONE_DATA_DIR "/tinyshakespeare/input.txt"}));
    EXPECT_THAT(sizes(text), ElementsAre(1003855, 0, 111539));
    ASSERT_EQ(text.vocabulary.size(), 65);
    EXPECT_EQ(text.vocabulary.words.front(), "\n");
    EXPECT_EQ(text.vocabulary.words.back(), "z");
    EXPECT_THAT(std::vector(text.tokens.begin(), text.tokens.begin() + 5),
                ElementsAre(18, 47, 56, 57, 58));  // "First"
    EXPECT_THAT(text.warnings, IsEmpty());
}

}  // namespace
}  // namespace engine
