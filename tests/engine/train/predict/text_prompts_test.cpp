#include "train/predict/text_prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace engine {
namespace {

using testing::ElementsAre;

TEST(PromptTokens, AreIdsOfTheVocabulary) {
    InputGuide guide;
    guide.words = true;
    guide.vocabulary = {"red", "blue", "<unk>"};
    EXPECT_THAT(prompt_tokens({guide}, "blue  red\tpink").ids, ElementsAre(1, 0, 2));
    EXPECT_THAT(prompt_tokens({guide, true}, "Blue").ids, ElementsAre(1));
    EXPECT_THAT(prompt_tokens({guide}, "Blue").ids, ElementsAre(2));
    guide.vocabulary.pop_back();
    EXPECT_THAT(prompt_tokens({guide}, "pink red").ids, ElementsAre(0)) << "left out";
    guide.words = false;
    guide.vocabulary = {"a", "é"};
    EXPECT_THAT(prompt_tokens({guide}, "aéa").ids, ElementsAre(0, 1, 0));
}

TEST(PromptTokens, AreReadAsATextIs) {
    InputGuide guide;
    guide.words = true;
    guide.vocabulary = {"red", "<eos>", "blue"};
    EXPECT_THAT(prompt_tokens({guide}, "\uFEFFred\r\nblue").ids, ElementsAre(0, 1, 2));
    EXPECT_THAT(prompt_tokens({guide}, "red\u00A0blue\u3000red\r").ids, ElementsAre(0, 2, 0, 1));
    EXPECT_THROW(prompt_tokens({guide}, "red \xE3\x80"), Error);
}

TEST(PromptTokens, TellWhatTheVocabularyDoesNotHave) {
    InputGuide guide;
    guide.words = true;
    guide.vocabulary = {"red", "blue"};
    const auto note = [&](const std::string& text) {
        return unknown_note({guide}, prompt_tokens({guide}, text)).str();
    };
    EXPECT_EQ(note("red blue"), "");
    EXPECT_EQ(note("red Red, pink blue pink"),
              "Words that are not in the vocabulary of the run are left out: \"Red,\", \"pink\"");
    EXPECT_EQ(prompt_tokens({guide}, "red pink pink").read, 3);
    EXPECT_THAT(note("1 2 3 4 5 6"), testing::EndsWith("\"4\", \"5\", ..."));
    guide.vocabulary.push_back("<unk>");
    EXPECT_EQ(note("pink"), "Not in the vocabulary of the run, and read as <unk>: \"pink\"");
    for (const char* odd : {"RED", "red.", "\"red\"", "re\u0301d", "ｒｅｄ", "red-"})
        EXPECT_THAT(note(std::string("red ") + odd + " blue"),
                    testing::EndsWith("\"" + std::string(odd) + "\""))
            << "another word than red";
    guide.words = false;
    guide.vocabulary = {"a", "b"};
    EXPECT_EQ(note("Äab7"),
              "Characters that are not in the vocabulary of the run are left out: \"Ä\", \"7\"");
}

}  // namespace
}  // namespace engine
