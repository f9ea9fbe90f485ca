#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "made_models.h"
#include "observed_twin.h"
#include "ops/loss/cross_entropy.h"

// tests/engine/nn/transformer_golden_test.cpp compares names, shapes and a step with transformers'.
namespace engine {
namespace {

constexpr std::int64_t bert_samples = 2, bert_window = 4, bert_words = 11;

std::unique_ptr<Model> made_bert(double dropout = 0, const Device& device = default_device()) {
    const Options options{{"layers", std::int64_t{2}},
                          {"width", std::int64_t{8}},
                          {"heads", std::int64_t{2}},
                          {"feed_forward", std::int64_t{12}},
                          {"context", std::int64_t{6}},
                          {"dropout", dropout}};
    return test::made_model("bert", options, test::windows(bert_window, bert_words), 1, device);
}

Tensor bert_tokens(std::vector<double> ids = {1, 2, 3, 4, 5, 0, 7, 10}) {
    return Tensor::of(ids, {bert_samples, bert_window}, DType::i64);
}
Tensor places() { return Tensor::of({0, 3, 1, 2}, {bert_samples, 2}, DType::i64); }

TEST(Bert, ReadsFromBothSides) {
    const auto made = made_bert();
    Model& model = *made;
    const auto before = model.forward({bert_tokens()}).front().values();
    const auto after = model.forward({bert_tokens({1, 2, 3, 9, 5, 0, 7, 10})}).front().values();
    for (std::int64_t row = 0; row < bert_samples * bert_window; ++row) {
        const auto at = static_cast<std::size_t>(row * bert_words);
        EXPECT_EQ(before[at] != after[at], row < bert_window) << "row " << row;
    }
}

TEST(Bert, ScoresTheTokensAtGivenPlacesAlone) {
    const auto made = made_bert();
    Model& model = *made;
    const auto all = model.forward({bert_tokens()}).front().values();
    const Tensor some = model.forward({bert_tokens(), places()}).front();
    EXPECT_EQ(some.shape(), (Shape{bert_samples * 2, bert_words}));
    const auto found = some.values();
    const std::vector<std::int64_t> rows{0, 3, bert_window + 1, bert_window + 2};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::int64_t row = rows[i / bert_words];
        EXPECT_NEAR(found[i], all[static_cast<std::size_t>(row * bert_words) + i % bert_words],
                    1e-6);
    }
}

TEST(Bert, EveryParameterTakesPart) {
    const auto made = made_bert();
    Model& model = *made;
    const Tensor logits = model.forward({bert_tokens(), places()}).front();
    backward(cross_entropy(logits, Tensor::of({1, 4, 0, 7}, {4}, DType::i64)));
    for (const Parameter& parameter : model.parameters())
        EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
}

TEST(Bert, TakesNoWindowBeyondItsPositions) {
    const auto made = made_bert();
    Model& model = *made;
    EXPECT_THROW(model.forward({Tensor::zeros({1, 7}, DType::i64)}), Error);
}

TEST(Bert, DropsInTrainingAloneAndTheSameWhenRecomputed) {
    const auto made_kept = made_bert(0.3), made_again = made_bert(0.3), made_without = made_bert();
    Model &kept = *made_kept, &again = *made_again, &without = *made_without;
    again.recompute_blocks = true;
    const auto step_of = [](Model& model) {
        StepRandom random(1, Tensor::zeros({}, DType::i64));
        random.begin(0);
        model.random = &random;
        backward(cross_entropy(model.forward({bert_tokens(), places()}).front(),
                               Tensor::of({1, 4, 0, 7}, {4}, DType::i64)));
        std::vector<std::vector<double>> out;
        for (const Parameter& parameter : model.parameters())
            out.push_back(parameter.tensor.grad().values());
        return out;
    };
    const auto drawn = step_of(kept);
    EXPECT_EQ(step_of(again), drawn) << "to the bit";
    EXPECT_NE(step_of(without), drawn);
    kept.training = without.training = false;
    EXPECT_EQ(kept.forward({bert_tokens()}).front().values(),
              without.forward({bert_tokens()}).front().values());
}

TEST(Bert, JoinsSumsAndNormsWithTheBitsOfAnObservedStep) {
    const auto seen =
        expect_observed_twin([] { return made_bert(0.3, Device{}); }, {bert_tokens(), places()},
                             "add_layer_norm");
    const std::string layer = "bert.encoder.layer.1";
    EXPECT_THAT(seen,
                testing::IsSupersetOf({"add in " + layer + ".attention.output",
                                       "layer_norm in " + layer + ".attention.output.LayerNorm",
                                       "add in " + layer + ".output",
                                       "layer_norm in " + layer + ".output.LayerNorm"}));
}

}  // namespace
}  // namespace engine
