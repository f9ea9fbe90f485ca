#include "train/prompt_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::ElementsAre;

TEST(PromptTokens, AreIdsOfTheVocabulary) {
    InputGuide guide;
    guide.words = true;
    guide.vocabulary = {"red", "blue", "<unk>"};
    EXPECT_THAT(prompt_tokens(guide, false, "blue  red\tpink"), ElementsAre(1, 0, 2));
    EXPECT_THAT(prompt_tokens(guide, true, "Blue"), ElementsAre(1));
    EXPECT_THAT(prompt_tokens(guide, false, "Blue"), ElementsAre(2));
    guide.vocabulary.pop_back();
    EXPECT_THAT(prompt_tokens(guide, false, "pink red"), ElementsAre(0)) << "left out";
    guide.words = false;
    guide.vocabulary = {"a", "é"};
    EXPECT_THAT(prompt_tokens(guide, false, "aéa"), ElementsAre(0, 1, 0));
}

}  // namespace
}  // namespace engine
