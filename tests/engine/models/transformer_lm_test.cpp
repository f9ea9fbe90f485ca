#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "made_models.h"
#include "models/model_descriptor.h"
#include "observed_twin.h"
#include "ops/loss/cross_entropy.h"
#include "support/expectations.h"

// tests/engine/nn/transformer_golden_test.cpp compares names, shapes and a step with transformers'.
namespace engine {
namespace {

using testing::HasSubstr;

constexpr std::int64_t transformer_streams = 2, transformer_window = 4, transformer_words = 11;

Options transformer_sizes(double dropout = 0) {
    return {{"layers", std::int64_t{2}},
            {"width", std::int64_t{8}},
            {"heads", std::int64_t{2}},
            {"feed_forward", std::int64_t{12}},
            {"context", std::int64_t{6}},
            {"dropout", dropout}};
}

std::unique_ptr<Model> made_transformer(const Options& options = transformer_sizes(),
                                        const Device& device = default_device()) {
    return test::made_model("transformer-lm", options,
                            test::windows(transformer_window, transformer_words), 1, device);
}

Tensor transformer_tokens(std::vector<double> ids = {1, 2, 3, 4, 5, 0, 7, 10}) {
    const auto length = static_cast<std::int64_t>(ids.size()) / transformer_streams;
    return Tensor::of(ids, {transformer_streams, length}, DType::i64);
}

double deviation_of(const Model& model, const std::string& name) {
    for (const Parameter& parameter : model.parameters()) {
        if (parameter.name != name) continue;
        double squares = 0;
        for (const double value : parameter.tensor.values()) squares += value * value;
        return std::sqrt(squares / static_cast<double>(parameter.tensor.numel()));
    }
    ADD_FAILURE() << name;
    return 0;
}

TEST(TransformerLanguageModel, GivesLogitsStreamAfterStream) {
    const auto made = made_transformer();
    Model& model = *made;
    const Tensor both = model.forward({transformer_tokens()}).front();
    EXPECT_EQ(both.shape(), (Shape{transformer_streams * transformer_window, transformer_words}));
    const Tensor first = Tensor::of({1, 2, 3, 4}, {1, transformer_window}, DType::i64);
    const auto alone = model.forward({first}).front().values(), all = both.values();
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i], all[i], 1e-6);
}

TEST(TransformerLanguageModel, SeesNoTokenThatFollows) {
    const auto made = made_transformer();
    Model& model = *made;
    const auto before = model.forward({transformer_tokens()}).front().values();
    const auto after =
        model.forward({transformer_tokens({1, 2, 3, 9, 5, 0, 7, 9})}).front().values();
    for (std::int64_t row = 0; row < transformer_streams * transformer_window; ++row) {
        const auto at = static_cast<std::size_t>(row * transformer_words);
        const bool changed = before[at] != after[at];
        EXPECT_EQ(changed, row % transformer_window == 3) << "row " << row;
    }
}

TEST(TransformerLanguageModel, EveryParameterTakesPart) {
    const auto made = made_transformer();
    Model& model = *made;
    const Tensor logits = model.forward({transformer_tokens()}).front();
    backward(cross_entropy(logits, Tensor::of({2, 3, 4, 5, 0, 7, 10, 1}, {8}, DType::i64)));
    for (const Parameter& parameter : model.parameters())
        EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
}

TEST(TransformerLanguageModel, IsDrawnAsGpt2) {
    auto wide = transformer_sizes();
    wide["width"] = std::int64_t{64};
    wide["feed_forward"] = std::int64_t{256};
    const auto made = made_transformer(wide);
    const Model& model = *made;
    const double residual = 0.02 / std::sqrt(2.0 * 2);
    EXPECT_NEAR(deviation_of(model, "transformer.h.1.attn.c_attn.weight"), 0.02, 0.001);
    EXPECT_NEAR(deviation_of(model, "transformer.h.1.attn.c_proj.weight"), residual, 0.0005);
    EXPECT_NEAR(deviation_of(model, "transformer.h.0.mlp.c_proj.weight"), residual, 0.0005);
    EXPECT_EQ(deviation_of(model, "transformer.h.0.mlp.c_proj.bias"), 0);
    EXPECT_EQ(deviation_of(model, "transformer.ln_f.weight"), 1);
}

TEST(TransformerLanguageModel, HasTheParametersOfGpt2) {
    ModelConfig config;
    config.kind = "transformer-lm";
    config.options = {{"layers", std::int64_t{12}},
                      {"width", std::int64_t{768}},
                      {"heads", std::int64_t{12}},
                      {"context", std::int64_t{1024}}};
    const FieldSpec input{.name = "tokens",
                          .kind = FieldKind::tokens,
                          .dtype = DType::i64,
                          .shape = {35},
                          .cardinality = 50'257,
                          .windowed = true};
    const auto model = make_model(config, {{input}, 50'257}, std::nullopt, Device{});
    EXPECT_EQ(model->parameter_count(), 124'439'808);
}

TEST(TransformerLanguageModel, RefusesSizesThatDoNotFit) {
    ModelConfig config;
    config.kind = "transformer-lm";
    const FieldSpec input{.name = "tokens",
                          .kind = FieldKind::tokens,
                          .dtype = DType::i64,
                          .shape = {35},
                          .cardinality = transformer_words,
                          .windowed = true};
    const auto refused = [&](const char* option, std::int64_t value) {
        config.options = {{option, value}};
        return message_of(ErrorCode::settings, [&] {
            (void)make_model(config, {{input}, transformer_words}, std::nullopt, Device{});
        });
    };
    EXPECT_THAT(refused("heads", 3), HasSubstr("model.options.heads: 3: must divide the width"));
    EXPECT_THAT(refused("context", 34), HasSubstr("model.options.context: 34"));
    const auto made = made_transformer();
    Model& model = *made;
    EXPECT_THROW(model.forward({Tensor::zeros({1, 7}, DType::i64)}), Error);
}

/// Loss and gradients of a step. With dropout if random numbers are given.
std::vector<std::vector<double>> step_of(Model& model, std::size_t batch = 0) {
    StepRandom random(1, Tensor::zeros({}, DType::i64));
    random.begin(batch);
    model.random = &random;
    const Tensor loss = cross_entropy(model.forward({transformer_tokens()}).front(),
                                      Tensor::of({2, 3, 4, 5, 0, 7, 10, 1}, {8}, DType::i64));
    backward(loss);
    std::vector<std::vector<double>> out{loss.values()};
    for (const Parameter& parameter : model.parameters()) {
        out.push_back(parameter.tensor.grad().values());
        Tensor(parameter.tensor).set_grad({});
    }
    return out;
}

TEST(TransformerLanguageModel, DropsInTrainingAlone) {
    const auto made_with = made_transformer(transformer_sizes(0.5)),
               made_without = made_transformer();
    Model &with = *made_with, &without = *made_without;
    const auto drawn = step_of(with);
    EXPECT_NE(drawn, step_of(without));
    EXPECT_EQ(step_of(with), drawn) << "the same numbers again";
    EXPECT_NE(step_of(with, 1), drawn);
    with.training = false;
    EXPECT_EQ(with.forward({transformer_tokens()}).front().values(),
              without.forward({transformer_tokens()}).front().values());
}

TEST(TransformerLanguageModel, RecomputedBlocksDropTheSame) {
    const auto made_kept = made_transformer(transformer_sizes(0.3)),
               made_again = made_transformer(transformer_sizes(0.3));
    Model &kept = *made_kept, &again = *made_again;
    again.recompute_blocks = true;
    EXPECT_EQ(step_of(again), step_of(kept)) << "to the bit";
}

TEST(TransformerLanguageModel, JoinsSumsAndNormsWithTheBitsOfAnObservedStep) {
    const auto seen = expect_observed_twin(
        [] { return made_transformer(transformer_sizes(0.3), Device{}); }, {transformer_tokens()},
        "add_layer_norm");
    EXPECT_THAT(
        seen, testing::IsSupersetOf({"add in transformer.h.0", "layer_norm in transformer.h.0.ln_1",
                                     "layer_norm in transformer.h.0.ln_2", "add in transformer.h.1",
                                     "layer_norm in transformer.h.1.ln_1",
                                     "layer_norm in transformer.ln_f"}));
}

TEST(TransformerLanguageModel, ComputesTheNextNormOutsideOfARecomputedBlock) {
    const auto made_plain = made_transformer(transformer_sizes(0.3), Device{}),
               made_again = made_transformer(transformer_sizes(0.3), Device{});
    Model &model = *made_plain, &again = *made_again;
    again.recompute_blocks = true;
    EXPECT_EQ(twin_step(model, {transformer_tokens()}, DType::bf16, "").bits,
              twin_step(again, {transformer_tokens()}, DType::bf16, "").bits);
}

}  // namespace
}  // namespace engine
