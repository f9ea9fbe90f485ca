#include "data/text/text_vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/text/text_tokenizer.h"
#include "engine/base/error.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Built {
    std::vector<std::string> words;
    std::vector<std::int64_t> counts;
    std::vector<std::int32_t> tokens;
    std::int64_t unknown = 0;
    std::int64_t train = 0;
};

/// The vocabulary of `train`, followed by the text `rest`.
Built build(const VocabularyRules& rules, const std::string& train, const std::string& rest = "") {
    const auto tokenizer = rules.words ? make_word_tokenizer() : make_character_tokenizer();
    std::vector<Message> warnings;
    Built out;
    tokenizer->begin_file("train");
    tokenizer->add(train);
    tokenizer->end_file(warnings);
    out.train = static_cast<std::int64_t>(tokenizer->tokens().size());
    tokenizer->begin_file("rest");
    tokenizer->add(rest);
    tokenizer->end_file(warnings);
    out.tokens = tokenizer->tokens();
    auto built = build_vocabulary(rules, tokenizer->take_names(), out.tokens, out.train);
    EXPECT_EQ(built.vocabulary.is_words, rules.words);
    out.words = built.vocabulary.words;
    out.counts = built.vocabulary.counts;
    out.unknown = built.unknown;
    return out;
}

TEST(TextVocabulary, NumbersWordsInTheOrderOfFirstAppearance) {
    const auto built = build({}, "the cat sat on the mat\nthe end");
    EXPECT_THAT(built.words, ElementsAre("the", "cat", "sat", "on", "mat", "<eos>", "end"));
    EXPECT_THAT(built.counts, ElementsAre(3, 1, 1, 1, 1, 2, 1));
    EXPECT_THAT(built.tokens, ElementsAre(0, 1, 2, 3, 0, 4, 5, 0, 6, 5));
}

TEST(TextVocabulary, NumbersCharactersByCodePoint) {
    const auto built = build({.words = false}, "zéa漢a\n𝄞", "é");
    EXPECT_THAT(built.words, ElementsAre("\n", "a", "z", "é", "漢", "𝄞"));
    EXPECT_THAT(built.counts, ElementsAre(1, 2, 1, 1, 1, 1));
    EXPECT_THAT(built.tokens, ElementsAre(2, 3, 1, 4, 1, 0, 5, 3));
}

TEST(TextVocabulary, SplitsAtAllWhiteSpace) {
    const auto built = build({}, " a\tb\v c\f\rd \n\n  \ne\u00A0f");
    EXPECT_THAT(built.words, ElementsAre("a", "b", "c", "d", "<eos>", "e", "f"));
    EXPECT_THAT(built.tokens, ElementsAre(0, 1, 2, 3, 4, 4, 4, 5, 6, 4));
}

TEST(TextVocabulary, MapsRareWordsToUnkAtItsEnd) {
    const auto built = build({.min_count = 2}, "a b a c\nb d");
    EXPECT_THAT(built.words, ElementsAre("a", "b", "<eos>", "<unk>"));
    EXPECT_THAT(built.counts, ElementsAre(2, 2, 2, 2));
    EXPECT_THAT(built.tokens, ElementsAre(0, 1, 0, 3, 2, 1, 3, 2));
    EXPECT_EQ(built.unknown, 0);
}

TEST(TextVocabulary, KeepsTheTextsOwnUnkWhereItStands) {
    const auto built = build({.min_count = 2}, "a <unk> a b");
    EXPECT_THAT(built.words, ElementsAre("a", "<unk>", "<eos>"));
    EXPECT_THAT(built.tokens, ElementsAre(0, 1, 0, 1, 2));
}

TEST(TextVocabulary, KeepsTheMostFrequentWordsAndOfEqualsTheEarlier) {
    const auto built = build({.max_words = 2}, "d a b b c a d\n");
    EXPECT_THAT(built.words, ElementsAre("d", "a", "<eos>", "<unk>"));
    EXPECT_THAT(built.tokens, ElementsAre(0, 1, 3, 3, 3, 1, 0, 2));
}

TEST(TextVocabulary, MapsWordsThatTheTrainingPartLacksToUnk) {
    const auto built = build({}, "a b\n", "b c d\n");
    EXPECT_THAT(built.words, ElementsAre("a", "b", "<eos>", "<unk>"));
    EXPECT_THAT(built.counts, ElementsAre(1, 1, 1, 0));
    EXPECT_THAT(built.tokens, ElementsAre(0, 1, 2, 1, 3, 3, 2));
    EXPECT_EQ(built.unknown, 2);
}

TEST(TextVocabulary, MapsRareAndUnknownCharactersToUnkBehindTheOthers) {
    const auto built = build({.words = false, .min_count = 2}, "aab", "ax");
    EXPECT_THAT(built.words, ElementsAre("a", "<unk>"));
    EXPECT_THAT(built.tokens, ElementsAre(0, 0, 1, 0, 1));
    EXPECT_EQ(built.unknown, 1);
}

TEST(TextVocabulary, HasNoUnkThatNothingNeeds) {
    EXPECT_THAT(build({.min_count = 1}, "a b", "b a").words, ElementsAre("a", "b", "<eos>"));
}

TEST(TextVocabulary, RefusesAMinimumCountThatLeavesNothing) {
    for (const bool words : {true, false}) {
        try {
            build({.words = words, .min_count = 9}, "a b\n");
            FAIL() << "not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::settings);
            EXPECT_THAT(error.what(), HasSubstr("dataset.min_count: 9: no "));
        }
    }
}

}  // namespace
}  // namespace engine
