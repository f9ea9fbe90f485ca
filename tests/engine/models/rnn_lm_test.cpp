#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "made_models.h"
#include "ops/loss/cross_entropy.h"
#include "support/expectations.h"
#include "tensor/philox.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t rnn_streams = 2, rnn_window = 3, rnn_words = 11;

Options rnn_sizes(const std::string& cell = "lstm") {
    return {{"cell", cell},
            {"embedding", std::int64_t{4}},
            {"hidden", std::int64_t{4}},
            {"layers", std::int64_t{2}},
            {"dropout", 0.0}};
}

std::unique_ptr<Model> made_rnn(const Options& options = rnn_sizes(),
                                std::optional<std::int64_t> seed = 1) {
    return test::made_model("rnn-lm", options, test::windows(rnn_window, rnn_words), seed,
                            default_device());
}

TensorList inputs_for(const Model& model) {
    TensorList in{Tensor::of({1, 2, 3, 4, 5, 0}, {rnn_streams, rnn_window}, DType::i64)};
    for (const Shape& shape : model.state_shapes(rnn_streams))
        in.push_back(Tensor::zeros(shape, DType::f32));
    return in;
}

std::vector<std::string> names_of(const Model& model) {
    std::vector<std::string> out;
    for (const Parameter& parameter : model.parameters()) out.push_back(parameter.name);
    return out;
}

TEST(RnnLanguageModel, HasTheNamesOfPyTorchsExample) {
    const auto made = made_rnn();
    Model& model = *made;
    EXPECT_THAT(
        names_of(model),
        ElementsAre("encoder.weight", "rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0",
                    "rnn.bias_hh_l0", "rnn.weight_ih_l1", "rnn.weight_hh_l1", "rnn.bias_ih_l1",
                    "rnn.bias_hh_l1", "decoder.weight", "decoder.bias"));
    EXPECT_THAT(model.parameters().back().tensor.values(), testing::Each(0));
    for (const double value : model.parameters().front().tensor.values())
        EXPECT_LE(std::abs(value), 0.1);
}

TEST(RnnLanguageModel, EveryCellGivesLogitsStepByStepAndItsState) {
    for (const std::string cell : {"lstm", "gru", "rnn-tanh", "rnn-relu"}) {
        const auto made = made_rnn(rnn_sizes(cell));
        Model& model = *made;
        const TensorList in = inputs_for(model), out = model.forward(in);
        ASSERT_EQ(out.size(), in.size()) << "logits, and as many states as came in";
        EXPECT_EQ(out[0].shape(), (Shape{rnn_window * rnn_streams, rnn_words}));
        EXPECT_EQ(out.size() - 1, cell == "lstm" ? 2u : 1u);
        for (std::size_t i = 1; i < out.size(); ++i) EXPECT_EQ(out[i].shape(), in[i].shape());
        backward(cross_entropy(out[0], Tensor::of({1, 2, 3, 4, 5, 6}, {6}, DType::i64)));
        for (const Parameter& parameter : model.parameters())
            EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    }
}

TEST(RnnLanguageModel, AWindowInTwoPartsGivesTheSameAsWhole) {
    const auto made = made_rnn();
    Model& model = *made;
    const TensorList whole = model.forward(inputs_for(model));
    TensorList in = inputs_for(model);
    std::vector<double> logits;
    for (int t = 0; t < rnn_window; ++t) {
        const std::vector<double> tokens = inputs_for(model)[0].values();
        in[0] = Tensor::of(
            {tokens[static_cast<std::size_t>(t)], tokens[static_cast<std::size_t>(rnn_window + t)]},
            {rnn_streams, 1}, DType::i64);
        TensorList out = model.forward(in);
        const auto values = out[0].values();
        logits.insert(logits.end(), values.begin(), values.end());
        std::copy(out.begin() + 1, out.end(), in.begin() + 1);
    }
    const auto expected = whole[0].values();
    ASSERT_EQ(logits.size(), expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-6);
    for (std::size_t i = 1; i < whole.size(); ++i) {
        const auto a = in[i].values(), b = whole[i].values();
        for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6);
    }
}

TEST(RnnLanguageModel, TiedItHasOneTable) {
    auto tied = rnn_sizes();
    tied["tied"] = true;
    const auto model = made_rnn(tied);
    EXPECT_EQ(std::ranges::count(names_of(*model), "decoder.weight"), 0);
    EXPECT_EQ(model->parameter_count(), made_rnn()->parameter_count() - 4 * rnn_words);
    tied["hidden"] = std::int64_t{5};
    EXPECT_THAT(message_of(ErrorCode::settings, [&] { made_rnn(tied, std::nullopt); }),
                HasSubstr("same size, not 4 and 5"));
}

TEST(RnnLanguageModel, DropsNothingInEvaluation) {
    auto dropping = rnn_sizes();
    dropping["dropout"] = 0.5;
    const auto made_with = made_rnn(dropping), made_without = made_rnn();
    Model &with = *made_with, &without = *made_without;
    StepRandom random(1, Tensor::zeros({}, DType::i64));
    with.random = &random;
    random.begin(0);
    const auto drawn = with.forward(inputs_for(with))[0].values();
    EXPECT_NE(drawn, without.forward(inputs_for(without))[0].values());
    random.begin(0);
    EXPECT_EQ(with.forward(inputs_for(with))[0].values(), drawn) << "the same numbers again";
    random.begin(1);
    EXPECT_NE(with.forward(inputs_for(with))[0].values(), drawn);
    with.training = without.training = false;
    EXPECT_EQ(with.forward(inputs_for(with))[0].values(),
              without.forward(inputs_for(without))[0].values());
}

}  // namespace
}  // namespace engine
