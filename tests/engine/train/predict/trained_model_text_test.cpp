#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/train/trained_model.h"
#include "support/click_run.h"
#include "support/small_tokenizer.h"
#include "trained_models.h"

// Text that trained models continue, and words that they fill in.
namespace engine {
namespace {

using test::small_masked_run;
using test::small_text_run;
using test::small_transformer_run;
using testing::SizeIs;

std::string text_of(TrainedModel& model, const GenerateOptions& options) {
    std::string out;
    model.generate(options, [&](const std::string& piece) {
        out += piece;
        return true;
    });
    return out;
}

TEST_F(TrainedModels, ContinueText) {
    RunConfig config = small_text_run("fp32");
    config.epochs = 1;
    TrainedModel model(train(config).folder);
    ASSERT_EQ(model.form().kind, InputForm::Kind::text);
    GenerateOptions options{.prompt = "a", .length = 40, .temperature = 1, .top_k = 0, .seed = 3};
    const std::string text = text_of(model, options);
    EXPECT_EQ(text_of(model, options), text) << "the seed decides";
    EXPECT_THAT(text, SizeIs(40));
    options.seed = 4;
    EXPECT_NE(text_of(model, options), text);
    options.temperature = 0;
    const std::string boldest = text_of(model, options);
    options.temperature = 5;
    options.top_k = 1;
    EXPECT_EQ(text_of(model, options), boldest) << "of one there is no choice";
    int pieces = 0;
    model.generate(options, [&](const std::string&) { return ++pieces < 3; });
    EXPECT_EQ(pieces, 3);
    options.prompt = "";
    EXPECT_THAT(text_of(model, options), SizeIs(40));
    options.temperature = -1;
    EXPECT_THROW(text_of(model, options), Error);
}

// A Transformer reads the last tokens as its window, as many as it has positions.
TEST_F(TrainedModels, OfATransformerContinueTextByItsLastWindow) {
    RunConfig config = small_transformer_run("fp32");
    config.optimizer.kind = "adam";
    config.optimizer.options = {{"lr", 0.01}};
    config.epochs = 3;
    TrainedModel model(train(completed(config)).folder);
    ASSERT_EQ(model.form().kind, InputForm::Kind::text);
    const auto boldest = [&](const std::string& prompt, std::int64_t length) {
        return text_of(
            model, {.prompt = prompt, .length = length, .temperature = 0, .top_k = 0, .seed = 1});
    };
    ASSERT_EQ(config.bptt, 5);
    EXPECT_FALSE(model.fills_masks());
    EXPECT_THROW(model.fill("a [MASK]", 1), Error);
    const std::string text = boldest("a", 30);
    EXPECT_THAT(text, SizeIs(30));
    for (std::size_t i = 5; i < 30; ++i) {
        EXPECT_EQ(boldest(text.substr(i - 5, 5), 1), text.substr(i, 1));
        EXPECT_EQ(boldest("ee" + text.substr(i - 5, 5), 1), text.substr(i, 1)) << "forgotten";
    }
    EXPECT_GT(std::set(text.begin(), text.end()).size(), 1U) << "or nothing was learnt";
}

TEST_F(TrainedModels, OfMaskedWordsFillThem) {
    RunConfig config = small_masked_run("fp32");
    config.dataset.kind = "text-words";
    config.dataset.path = {(folder_ / "text.txt").string()};
    {
        std::ofstream file(folder_ / "text.txt");
        for (int i = 0; i < 1500; ++i) file << (i % 3 == 0 ? "one two three " : "red blue green ");
    }
    config.dataset.train_limit = config.dataset.test_limit = 0;
    config.dataset.options = {{"test_share", 0.1}};
    config.model.options["layers"] = std::int64_t{1};
    config.model.options["width"] = std::int64_t{32};
    config.optimizer.kind = "adam";
    config.optimizer.options = {{"lr", 0.003}};
    config.batch_size = 16;
    config.epochs = 60;
    TrainedModel model(train(completed(config)).folder);
    ASSERT_TRUE(model.fills_masks());
    EXPECT_EQ(model.form().kind, InputForm::Kind::masked_text);
    EXPECT_EQ(model.form().mask, "[MASK]");
    EXPECT_TRUE(model.form().words);
    EXPECT_EQ(model.form().longest, 12);
    const auto filled = model.fill("one [MASK] three red [MASK] green", 2);
    ASSERT_THAT(filled, SizeIs(2));
    EXPECT_EQ(filled[0].place, 1);
    EXPECT_EQ(filled[1].place, 4);
    ASSERT_THAT(filled[0].words, SizeIs(2));
    EXPECT_EQ(filled[0].words[0].text, "two");
    EXPECT_EQ(filled[1].words[0].text, "blue");
    EXPECT_GE(filled[0].words[0].probability, filled[0].words[1].probability);
    EXPECT_THROW(model.fill("one two three", 1), Error) << "no mask";
    EXPECT_THROW(model.fill("[MASK] one two three one two three one two three one two three", 1),
                 Error)
        << "13 tokens; it has 12 positions";
}

/// A run that learns `text` by its tokens.
RunConfig tokens_run(RunConfig config, const test_support::TempFolder& folder,
                     const std::string& line) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += line;
    config.dataset.kind = "text-tokens";
    config.dataset.path = {folder.write("text.txt", text)};
    config.dataset.train_limit = config.dataset.test_limit = 0;
    config.dataset.options = {{"test_share", 0.1},
                              {"tokenizer", folder.write("t.json", test::small_tokenizer())}};
    config.optimizer.kind = "adam";
    config.optimizer.options = {{"lr", 0.01}};
    config.batch_size = 8;
    config.epochs = 12;
    return completed(config);
}

TEST_F(TrainedModels, OfATokenizerContinueTextInItsSpelling) {
    RunConfig config =
        tokens_run(small_transformer_run("fp32"), folder_, "The dogs saw a red cat.\n");
    const auto run = train(config).folder;
    std::filesystem::remove(folder_ / "t.json");
    TrainedModel model(run);
    ASSERT_EQ(model.form().kind, InputForm::Kind::text);
    EXPECT_EQ(text_of(model, {.prompt = "THE dog", .length = 6, .temperature = 0, .seed = 1}),
              "s saw a red cat.");
    EXPECT_TRUE(model.unknown_in("the dogs").empty());
    EXPECT_EQ(model.unknown_in("a zebra").str(),
              "Not in the vocabulary of the tokenizer: \"zebra\"");
}

TEST_F(TrainedModels, OfATokenizerFillItsOwnMask) {
    RunConfig config = tokens_run(small_masked_run("fp32"), folder_, "the dogs saw a red cat.\n");
    config.dataset.options["special_tokens"] = true;
    config.max_steps = 2;
    TrainedModel model(train(config).folder);
    ASSERT_TRUE(model.fills_masks());
    EXPECT_EQ(model.form().mask, "[MASK]");
    EXPECT_TRUE(model.form().tokens);
    const auto filled = model.fill("The dogs [MASK] a red [MASK].", 2);
    ASSERT_THAT(filled, SizeIs(2));
    EXPECT_EQ(filled[0].place, 4) << "behind [CLS], the, dog and ##s";
    EXPECT_EQ(filled[1].place, 7);
    EXPECT_THAT(filled[1].words, SizeIs(2));
}

TEST_F(TrainedModels, OfMaskedWordsDoNotContinueText) {
    RunConfig config = small_masked_run("fp32");
    config.max_steps = 2;
    TrainedModel model(train(config).folder);
    EXPECT_EQ(model.task(), "masked-language-model");
    EXPECT_EQ(model.form().kind, InputForm::Kind::masked_text);
    EXPECT_FALSE(model.form().words);
    EXPECT_THAT(model.fill("[MASK]he", 3)[0].words, SizeIs(3)) << "characters";
    EXPECT_THROW(model.generate({}, [](const std::string&) { return true; }), Error);
}

}  // namespace
}  // namespace engine
