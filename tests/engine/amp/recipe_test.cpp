#include "amp/recipe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "tensor/tape.h"

namespace engine {
namespace {

using enum ProductOperand;

Recipe recipe(ScaleBasis rule, std::int64_t block = 0) {
    return {.rule = rule,
            .gradient = kernels::fp8_e4m3_layout,
            .block = block,
            .powers_of_two = rule != ScaleBasis::tensor};
}

Tensor host(const std::vector<double>& values, const Shape& shape) {
    return Tensor::of(values, shape, DType::f32, Device{});
}

/// 4 x 64 with magnitudes from 2^-8 to 2^7.
Tensor sample() {
    std::vector<double> values;
    for (int i = 0; i < 256; ++i)
        values.push_back(std::ldexp(1 + i % 7 / 8.0, i % 16 - 8) * (i % 3 == 0 ? -1 : 1));
    return host(values, {4, 64});
}

/// The values that the codes stand for.
std::vector<double> decoded(const QuantizedMatrix& matrix) {
    std::vector<double> out = matrix.values(DType::f32, 0).values();
    for (double& each : out) each *= matrix.factor();
    return out;
}

TEST(Recipe, CodesOfATensorReachTheLargestValue) {
    QuantizedLayer layer(recipe(ScaleBasis::tensor));
    const Tensor x = sample();
    const QuantizedMatrix codes = layer.quantize(x, input, Contraction::cols);
    EXPECT_FALSE(codes.scales.defined());
    const std::vector<double> before = x.values(), after = decoded(codes);
    double most_before = 0, most_after = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        // Half of the smallest code's value, 2^-9, at a scale of 448 / 240.
        EXPECT_NEAR(after[i], before[i], std::abs(before[i]) / 16 + 0x1p-10 * 240 / 448);
        most_before = std::max(most_before, std::abs(before[i]));
        most_after = std::max(most_after, std::abs(after[i]));
    }
    EXPECT_FLOAT_EQ(static_cast<float>(most_after), static_cast<float>(most_before));
}

TEST(Recipe, ScalesOfBlocksArePowersOfTwoOfTheirOwn) {
    for (const Recipe& each :
         {recipe(ScaleBasis::mx, 32), recipe(ScaleBasis::block, 32), recipe(ScaleBasis::row)}) {
        QuantizedLayer layer(each);
        const Tensor x = sample();
        for (const Contraction along : {Contraction::cols, Contraction::rows}) {
            const QuantizedMatrix codes = layer.quantize(x, input, along);
            const std::int64_t blocks = along == Contraction::rows        ? 64
                                        : each.rule == ScaleBasis::row ? 4
                                                                      : 8;
            ASSERT_EQ(codes.scales.numel(), blocks);
            const std::vector<double> before = x.values(), after = decoded(codes);
            for (std::size_t i = 0; i < before.size(); ++i)  // subnormal codes are 2^-17 of a block
                EXPECT_NEAR(after[i], before[i], std::abs(before[i]) / 16 + 256 * 0x1p-17);
        }
    }
}

TEST(Recipe, ScalesOfABlockThatIsNotFiniteAreNan) {
    std::vector<double> values(128, 1);
    values[40] = std::numeric_limits<double>::infinity();
    const Tensor x = host(values, {2, 64});
    QuantizedLayer blocks(recipe(ScaleBasis::mx, 32));
    const auto in_blocks = decoded(blocks.quantize(x, input, Contraction::cols));
    for (std::size_t i = 0; i < in_blocks.size(); ++i)
        EXPECT_EQ(std::isnan(in_blocks[i]), i >= 32 && i < 64) << i;
    for (const ScaleBasis rule : {ScaleBasis::tensor, ScaleBasis::row}) {
        QuantizedLayer whole(recipe(rule));
        const auto decoded_ones = decoded(whole.quantize(x, input, Contraction::cols));
        for (std::size_t i = 0; i < decoded_ones.size(); ++i)
            EXPECT_EQ(std::isnan(decoded_ones[i]), i == 40) << i;
    }
}

TEST(Recipe, BlocksOfZerosAndOfNanDoNotWidenTheSpanOfExponents) {
    std::vector<double> values(96, 0);
    values[32] = 448;
    values[64] = 7;
    values.resize(128, std::numeric_limits<double>::quiet_NaN());
    const Tensor x = host(values, {1, 128});
    QuantizedLayer layer(recipe(ScaleBasis::mx, 32));
    const QuantizedMatrix codes = layer.quantize(x, input, Contraction::cols);
    EXPECT_EQ(codes.top, 0);
    EXPECT_EQ(codes.span, 6);
}

TEST(Recipe, WeightsAreCastOnceAfterEachChange) {
    QuantizedLayer layer(recipe(ScaleBasis::tensor));
    const Tensor w = sample();
    const QuantizedMatrix first = layer.weight(w, Contraction::cols);
    EXPECT_EQ(layer.weight(w.detach(), Contraction::rows).codes.impl(), first.codes.impl());
    w.data_as<float>()[0] = 4096;
    w.bump_version();
    const QuantizedMatrix second = layer.weight(w, Contraction::cols);
    EXPECT_NE(second.codes.impl(), first.codes.impl());
    EXPECT_FLOAT_EQ(second.inverse, 4096.0f / 448.0f);
    EXPECT_EQ(layer.weight_casts(), 2);
}

TEST(Recipe, GradientsInFourBitsDrawTheirNumbersByPlaceAndStep) {
    Recipe four = recipe(ScaleBasis::mx, 32);
    four.forward = four.gradient = kernels::fp4_e2m1_layout;
    four.random_gradients = true;
    const auto codes = [](QuantizedLayer& layer, ProductOperand operand) {
        return layer.quantize(sample(), operand, Contraction::cols).codes.values();
    };
    QuantizedStep draws{.seed = 3, .step = 5, .operands = 6};
    QuantizedLayer layer(four, draws, 1), same(four, draws, 1), other(four, draws, 0);
    const std::vector<double> first = codes(layer, gradient);
    EXPECT_EQ(codes(same, gradient), first);
    EXPECT_NE(codes(other, gradient), first) << "another layer";
    const std::vector<double> second = codes(layer, gradient);
    EXPECT_NE(second, first) << "another micro-batch";
    EXPECT_EQ(codes(same, gradient), second);
    EXPECT_EQ(codes(layer, input), codes(other, input)) << "inputs go to the nearest";
    layer.end_step();
    EXPECT_EQ(codes(layer, gradient), first) << "a micro-batch of this number";
    draws.step = 6;
    layer.end_step();
    EXPECT_NE(codes(layer, gradient), first) << "another step";
}

// The values keep their products: both operands are rotated by one orthogonal matrix.
TEST(Recipe, RotatedRowsSpreadAnOutlierAndKeepLengths) {
    Recipe four = recipe(ScaleBasis::nvfp4, 16);
    four.forward = four.gradient = kernels::fp4_e2m1_layout;
    four.rotates_rows = true;
    QuantizedLayer layer(four);
    const Tensor x = host({0, 0, 0, 8}, {4, 1});
    const QuantizedMatrix codes = layer.quantize(x, input, Contraction::rows);
    ASSERT_EQ(codes.codes.shape(), (Shape{16, 1}));
    double length = 0;
    for (const double each : decoded(codes)) {
        EXPECT_NEAR(std::abs(each), 2, 1e-6);
        length += each * each;
    }
    EXPECT_NEAR(length, 64, 1e-4);
    EXPECT_EQ(layer.quantize(x, input, Contraction::cols).codes.shape(), x.shape());
}

TEST(QuantizedLayers, CountABlockFarBelowItsTensorAsZeroed) {
    std::vector<double> values(32, 1);
    for (std::size_t i = 16; i < 32; ++i) values[i] = 0x1p-22;
    Recipe four{.rule = ScaleBasis::nvfp4,
                .forward = kernels::fp4_e2m1_layout,
                .gradient = kernels::fp4_e2m1_layout,
                .block = 16};
    QuantizedLayers layers(four, {});
    const auto layer = layers.find("fc");
    const QuantizedMatrix codes = layer->quantize(host(values, {1, 32}), input, Contraction::cols);
    EXPECT_EQ(codes.scales.data_as<std::uint8_t>()[1], 0);
    EXPECT_EQ(decoded(codes)[16], 0);
    layers.end_step();
    const CastFigures& x = layers.casts()[0];
    EXPECT_EQ(x.counts.nonzero, 32);
    EXPECT_EQ(x.counts.zeroed, 16);
    EXPECT_EQ(x.counts.saturated, 0);
    EXPECT_NEAR(x.headroom, 0, 0.1);
}

// Transformer Engine's rule, with a step in place of a forward pass.
TEST(DelayedScale, FollowsTheLargestOfTheLastSteps) {
    DelayedScale scale(kernels::fp8_e4m3_layout, 3);
    EXPECT_EQ(scale.scale(), 1);
    const auto step = [&](std::initializer_list<kernels::BlockRange> uses) {
        for (const kernels::BlockRange& each : uses) scale.measured(each);
        scale.update();
        return scale.scale();
    };
    EXPECT_EQ(step({{.amax = 7}}), 64);
    EXPECT_EQ(step({{.amax = 14}, {.amax = 3}}), 32) << "one entry for both uses";
    EXPECT_EQ(step({{.amax = 3.5f}}), 32);
    EXPECT_EQ(scale.history(), (std::vector<float>{7, 14, 3.5f}));
    EXPECT_EQ(step({}), 32) << "a step without a use";
    EXPECT_EQ(step({{.amax = 0}}), 32) << "zeros alone";
    EXPECT_EQ(step({{.amax = 1e30f, .nonfinite = true}}), 32);
    EXPECT_EQ(scale.history(), (std::vector<float>{7, 14, 3.5f}));
    EXPECT_EQ(step({{.amax = 1}}), 32);
    EXPECT_EQ(step({{.amax = 1}}), 128) << "14 has left";
    EXPECT_EQ(step({{.amax = 1e-38f}}), 448) << "3.5 has left";
    step({{.amax = 1e-38f}});
    EXPECT_EQ(step({{.amax = 1e-38f}}), std::numeric_limits<float>::max());
}

TEST(DelayedScale, DecidesBeforeItMeasures) {
    QuantizedLayers layers({.rule = ScaleBasis::delayed, .history = 4}, {});
    const auto layer = layers.find("fc1");
    const Tensor x = host({896, 1, 0, 0}, {1, 4});
    EXPECT_EQ(decoded(layer->quantize(x, input, Contraction::cols))[0], 448) << "saturates";
    {
        const InferenceMode evaluation;
        layer->quantize(host({1e6}, {1, 1}), input, Contraction::cols);
    }
    EXPECT_EQ(layer->delayed()[0].scale(), 1) << "until the step ends";
    layers.end_step();
    EXPECT_EQ(layer->delayed()[0].scale(), 0.5f);
    EXPECT_EQ(decoded(layer->quantize(x, input, Contraction::cols))[0], 896);
}

TEST(QuantizedLayers, HeadroomIsAFiniteNumberWhereScaledValuesAreNot) {
    QuantizedLayers layers({.rule = ScaleBasis::delayed, .history = 1}, {});
    const auto layer = layers.find("fc");
    layer->quantize(host({0x1p-110}, {1, 1}), input, Contraction::cols);
    layers.end_step();  // the scale is now 448 x 2^110
    layer->quantize(host({0x1p20}, {1, 1}), input, Contraction::cols);
    layers.end_step();
    EXPECT_EQ(layers.casts()[0].headroom, -130);
}

TEST(QuantizedLayers, CountTheCastsOfAStep) {
    QuantizedLayers layers({.rule = ScaleBasis::delayed, .history = 2}, {});
    const auto layer = layers.find("fc");
    layer->quantize(host({896, 0.0001, 0, 1}, {1, 4}), input, Contraction::cols);
    const Tensor w = host({7, 3.5}, {1, 2});
    layer->weight(w, Contraction::cols);
    layers.end_step();
    const auto& [x, weights, gradients] = layers.casts();
    EXPECT_EQ(x.elements, 4);
    EXPECT_EQ(x.counts.nonzero, 3);
    EXPECT_EQ(x.counts.zeroed, 1);
    EXPECT_EQ(x.counts.saturated, 1);
    EXPECT_EQ(x.headroom, -1) << "448 / 896";
    EXPECT_EQ(weights.headroom, 6);
    EXPECT_EQ(gradients.elements, 0);
    layers.end_step();
    EXPECT_EQ(layers.casts()[0].elements, 0);
}

TEST(QuantizedLayers, KeepModulesWithAllInsideThem) {
    QuantizedLayers layers(recipe(ScaleBasis::tensor), {"head"});
    EXPECT_EQ(layers.find("head"), nullptr);
    EXPECT_EQ(layers.find("head.fc"), nullptr);
    EXPECT_EQ(layers.find(""), nullptr);
    EXPECT_NE(layers.find("header"), nullptr);
    EXPECT_EQ(layers.find("fc"), layers.find("fc"));
    layers.end_step();
}

TEST(QuantizedLayers, TakeUpTheScalesThatTheySaved) {
    const Recipe delayed{.rule = ScaleBasis::delayed, .history = 2};
    QuantizedLayers first(delayed, {});
    first.find("a.b")->quantize(host({7, 0}, {1, 2}), gradient, Contraction::cols);
    first.end_step();
    const TensorMap saved = first.saved_state();
    EXPECT_EQ(saved.size(), 6u);
    EXPECT_EQ(saved.at("a.b.g.scale").values().front(), 57344.0 / 7);
    EXPECT_EQ(saved.at("a.b.g.history").values(), (std::vector<double>{0, 7}));
    QuantizedLayers second(delayed, {});
    second.load_state(saved, 1);
    EXPECT_EQ(second.find("a.b")->delayed()[2].scale(), 57344.0f / 7);
    EXPECT_EQ(second.find("other")->delayed()[2].scale(), 1);
    QuantizedLayers longer({.rule = ScaleBasis::delayed, .history = 3}, {});
    longer.load_state(saved, 1);
    EXPECT_EQ(longer.find("a.b")->delayed()[2].scale(), 1) << "a history of another length";
    Recipe forgetful = delayed;
    forgetful.forgets_history = true;
    QuantizedLayers broken(forgetful, {});
    broken.load_state(saved, 1);
    EXPECT_EQ(broken.find("a.b")->delayed()[2].scale(), 1) << "on purpose";
    for (const double impossible : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
        TensorMap other = saved;
        other["a.b.g.scale"] = host({impossible}, {1});
        second.load_state(other, 1);
        EXPECT_EQ(second.find("a.b")->delayed()[2].scale(), 1) << impossible;
    }
}

// A step that is replayed from its beginning is the same each time.
TEST(QuantizedLayers, LoadingAStateUndoesTheStepsSinceThen) {
    const Recipe delayed{.rule = ScaleBasis::delayed, .history = 2};
    QuantizedLayers layers(delayed, {});
    const TensorMap before = layers.saved_state();
    layers.find("fc")->quantize(host({7, 0}, {1, 2}), input, Contraction::cols);
    layers.end_step();
    const TensorMap after = layers.saved_state();
    layers.load_state(before, 0);
    EXPECT_TRUE(layers.saved_state().empty());
    EXPECT_EQ(layers.find("fc")->delayed()[0].scale(), 1);
    QuantizedLayers current(recipe(ScaleBasis::tensor), {});
    current.load_state(after, 1);
    EXPECT_TRUE(current.saved_state().empty()) << "scales without a history are no state";
}

}  // namespace
}  // namespace engine
