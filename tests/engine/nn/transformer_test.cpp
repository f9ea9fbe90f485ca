#include "nn/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ops/attention/attention.h"
#include "ops/linalg/linear.h"
#include "ops/norm/layer_norm.h"
#include "ops/shape/view.h"

// Compares each part with the ops that it consists of; tests/peer/onnx_models.py runs the graphs.
namespace engine {
namespace {

Tensor waves(const Shape& shape, double step) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
        values.push_back(std::sin(step * static_cast<double>(i + 1)));
    return Tensor::of(values, shape, DType::f32);
}

TEST(Transformer, Conv1DIsALinearLayerWithItsWeightTransposed) {
    TensorRegistry registry(1, default_device());
    const Conv1D layer(registry, "c_attn", 4, 6, 0.5);
    EXPECT_EQ(layer.weight.shape(), (Shape{4, 6}));
    EXPECT_THAT(layer.bias.values(), testing::Each(0));
    EXPECT_TRUE(registry.parameters[0].autocast_low && registry.parameters[1].autocast_low);
    const Tensor x = waves({5, 4}, 0.7);
    const auto found = layer(x).values();
    const auto expected = linear(x, contiguous(transpose(layer.weight, 0, 1)), layer.bias).values();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6);
}

TEST(Transformer, LayerNormHasItsEpsilon) {
    TensorRegistry registry(1, default_device());
    const LayerNorm norm(registry, "ln", 4, 0.25);
    const Tensor x = waves({3, 4}, 0.3);
    EXPECT_EQ(norm(x).values(), layer_norm(x, {4}, norm.weight, norm.bias, 0.25).values());
    EXPECT_NE(norm(x).values(), layer_norm(x, {4}, norm.weight, norm.bias, 0.5).values());
}

TEST(Transformer, RowsAttendWithinTheirSample) {
    const TokenRows of{.samples = 2, .tokens = 3};
    const AttentionHeads heads{.heads = 2, .is_causal = true, .dropout = {}};
    const Tensor q = waves({6, 4}, 0.7), k = waves({6, 4}, 1.1), v = waves({6, 4}, 1.3);
    DropoutDraws none;
    const Tensor y = heads(q, k, v, of, none);
    EXPECT_EQ(y.shape(), (Shape{6, 4}));
    for (std::int64_t sample = 0; sample < 2; ++sample) {
        for (std::int64_t head = 0; head < 2; ++head) {
            const auto part = [&](const Tensor& x) {
                return contiguous(narrow(narrow(x, 0, 3 * sample, 3), 1, 2 * head, 2));
            };
            const auto alone =
                scaled_dot_product_attention(part(q), part(k), part(v), {}, {.is_causal = true})
                    .values();
            const auto found = part(y).values();
            for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(found[i], alone[i], 1e-6);
        }
    }
}

TEST(Transformer, CopiesOfDrawsGiveTheSameNumbers) {
    StepRandom random(1, Tensor::zeros({}, DType::i64));
    random.begin(0);
    DropoutDraws first(random, 24), again = first, next(random, 24);
    const Dropout drop("drop", 0.5);
    const Tensor x = Tensor::full({4, 6}, 1, DType::f32);
    const auto drawn = drop(x, first).values();
    EXPECT_EQ(drop(x, again).values(), drawn);
    EXPECT_NE(drop(x, next).values(), drawn);
    EXPECT_NE(drop(x, first).values(), drawn) << "it goes on";
    DropoutDraws none;
    EXPECT_EQ(drop(x, none).values(), x.values());
}

TEST(Transformer, AttentionTakesOneNumberAWeight) {
    const AttentionHeads heads{.heads = 2, .is_causal = false, .dropout = {"drop", 0.5}};
    const TokenRows of{.samples = 3, .tokens = 4};
    EXPECT_EQ(heads.draws(of), 3 * 2 * 4 * 4);
    EXPECT_EQ((AttentionHeads{.heads = 2, .is_causal = false, .dropout = {}}.draws(of)), 0);
    const Tensor x = waves({12, 4}, 0.7);
    StepRandom random(1, Tensor::zeros({}, DType::i64));
    DropoutDraws draws(random, heads.draws(of)), none;
    const auto dropped = heads(x, x, x, of, draws).values();
    EXPECT_NE(dropped, heads(x, x, x, of, none).values());
    EXPECT_EQ(draws.take(0), 3U * 2 * 4 * 4);
}

}  // namespace
}  // namespace engine
