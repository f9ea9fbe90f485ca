#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amp/recipe.h"
#include "tensor/tape.h"

// Parts of a recipe that settings change.
namespace engine {
namespace {

using enum ProductOperand;

constexpr float endless = std::numeric_limits<float>::infinity();
constexpr kernels::FloatLayout e4m3 = kernels::fp8_e4m3_layout;

Tensor on_host(const std::vector<double>& values, const Shape& shape) {
    return Tensor::of(values, shape, DType::f32, Device{});
}

double value_at(const QuantizedMatrix& codes, std::size_t place) {
    return codes.values(DType::f32, 0).values()[place] * codes.factor();
}

TEST(RecipeOptions, AMarginAndTheNewestEntryDecideAboutADelayedScale) {
    DelayedScale largest(e4m3, 4, false, 3), newest(e4m3, 4, true, 0);
    for (const float amax : {7.0f, 14.0f, 3.5f}) {
        largest.measured({.amax = amax});
        newest.measured({.amax = amax});
        largest.update();
        newest.update();
    }
    EXPECT_EQ(largest.scale(), 448.0f / 8 / 14);
    EXPECT_EQ(newest.scale(), 128);
    largest.measured({.amax = 1e-38f});
    largest.update();
    EXPECT_EQ(largest.scale(), 4);
}

/// Transformer Engine's update, written anew: the newest entry first, the oldest falls out.
struct PlainDelayed {
    std::vector<float> history;
    float scale = 1;

    void step(float amax, bool newest, int margin) {
        if (amax == 0) return;
        history.insert(history.begin(), amax);
        history.pop_back();
        float m = history.front();
        for (const float each : history)
            if (!newest && each > m) m = each;
        const float quotient = 448.0f / static_cast<float>(1 << margin) / m;
        scale = std::isinf(quotient) ? std::numeric_limits<float>::max() : quotient;
    }
};

TEST(RecipeOptions, DelayedScalesAreThoseOfThePlainFormula) {
    for (const int length : {1, 2, 16, 1024})
        for (const bool newest : {false, true})
            for (const int margin : {0, 3}) {
                DelayedScale scale(e4m3, length, newest, margin);
                PlainDelayed plain{std::vector<float>(static_cast<std::size_t>(length)), 1};
                std::uint32_t word = 56;
                for (int i = 0; i < 3000; ++i) {
                    word = word * 1664525u + 1013904223u;
                    const int exponent = static_cast<int>(word >> 24) % 60 - 30;
                    const float amax = std::ldexp(1 + static_cast<float>(word % 997) / 997, exponent);
                    const std::uint32_t kind = word >> 8 & 15;
                    if (kind == 0) {  // zeros alone
                        scale.measured({});
                    } else if (kind == 1) {
                        scale.measured({.amax = amax, .nonfinite = true});
                    } else if (kind > 2) {  // 2: a step without a use
                        scale.measured({.amax = amax});
                        plain.step(amax, newest, margin);
                    }
                    scale.update();
                    ASSERT_EQ(scale.scale(), plain.scale) << length << ' ' << i;
                }
            }
}

TEST(RecipeOptions, TheFirstScaleIsMeasured) {
    const Recipe recipe{.rule = ScaleBasis::delayed, .history = 4, .margin = 1, .measures_first = true};
    QuantizedLayers layers(recipe, {});
    const auto layer = layers.find("fc");
    const Tensor x = on_host({7, 1}, {1, 2});
    EXPECT_EQ(layer->quantize(x, input, Contraction::cols).inverse, 1.0f / 32);
    layers.end_step();
    EXPECT_EQ(layer->delayed()[0].scale(), 32);
    EXPECT_EQ(layer->quantize(on_host({70, 1}, {1, 2}), input, Contraction::cols).inverse, 1.0f / 32);
    EXPECT_EQ(layer->quantize(on_host({0, 0}, {1, 2}), gradient, Contraction::cols).inverse, 1);
}

TEST(RecipeOptions, ScalesArePowersOfTwoOrNot) {
    const Tensor x = on_host({3, 1, 5, 1}, {2, 2});
    QuantizedLayer whole({.rule = ScaleBasis::tensor, .powers_of_two = true});
    EXPECT_EQ(whole.quantize(x, input, Contraction::cols).inverse, 1.0f / 64);
    QuantizedLayer rows({.rule = ScaleBasis::row, .gradient = e4m3});
    const QuantizedMatrix codes = rows.quantize(x, input, Contraction::cols);
    ASSERT_TRUE(codes.has_f32_scales());
    EXPECT_EQ(codes.scales.data_as<float>()[0], 1.0f / (448.0f / 3));
    EXPECT_EQ(codes.scales.data_as<float>()[1], 1.0f / (448.0f / 5));
    EXPECT_NEAR(value_at(codes, 2), 5, 1e-6);
    QuantizedLayer tiny({.rule = ScaleBasis::row, .gradient = e4m3});
    EXPECT_EQ(tiny.quantize(on_host({0}, {1, 1}), input, Contraction::cols).scales.values()[0],
              static_cast<double>(1.0f / (448.0f / 1e-12f)));
}

TEST(RecipeOptions, AFixedScaleIsThatOfEachTensor) {
    for (const ScaleBasis rule : {ScaleBasis::tensor, ScaleBasis::delayed}) {
        QuantizedLayers layers(Recipe{.rule = rule, .history = 2, .fixed_scale = 2}, {});
        const auto layer = layers.find("fc");
        for (int step = 0; step < 2; ++step) {
            EXPECT_EQ(layer->quantize(on_host({100}, {1, 1}), input, Contraction::cols).inverse, 0.5f);
            layers.end_step();
        }
    }
}

TEST(RecipeOptions, AWeightHasOneScaleInTheBackwardPass) {
    QuantizedLayer layer({.rule = ScaleBasis::row,
                          .gradient = e4m3,
                          .powers_of_two = true,
                          .whole_weights = true,
                          .kept = {false, false, true}});
    const Tensor w = on_host({7, 7, 448, 448}, {2, 2});
    EXPECT_EQ(layer.weight(w, Contraction::cols).scales.numel(), 2);
    const QuantizedMatrix whole = layer.weight(w, Contraction::rows, /*backward=*/true);
    ASSERT_EQ(whole.scales.numel(), 1);
    EXPECT_EQ(whole.scales.data_as<std::uint8_t>()[0], 127);
    EXPECT_FALSE(layer.quantizes(LayerProduct::weight_gradient));
    EXPECT_TRUE(layer.quantizes(LayerProduct::input_gradient));
}

// CUDA's saturating casts: endless counts as a magnitude, and a scale that is not finite is 1.
TEST(RecipeOptions, SaturatedInfinityIsTheLargestValue) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor x = on_host({3, -double{endless}, nan, 1}, {1, 4});
    const auto codes_of = [&](Recipe recipe) {
        recipe.saturates = true;
        QuantizedLayer layer(recipe);
        return layer.quantize(x, input, Contraction::cols);
    };
    for (const Recipe& each : {Recipe{.rule = ScaleBasis::tensor},
                               Recipe{.rule = ScaleBasis::row, .powers_of_two = true},
                               Recipe{.rule = ScaleBasis::row},
                               Recipe{.rule = ScaleBasis::mx, .block = 32}}) {
        const QuantizedMatrix codes = codes_of(each);
        EXPECT_EQ(value_at(codes, 0), 3);
        EXPECT_EQ(value_at(codes, 1), -448);
        EXPECT_TRUE(std::isnan(value_at(codes, 2)));
    }
    const QuantizedMatrix four = codes_of({.rule = ScaleBasis::mx,
                                           .forward = kernels::fp4_e2m1_layout,
                                           .gradient = kernels::fp4_e2m1_layout,
                                           .block = 32});
    EXPECT_EQ(value_at(four, 0), 3);
    EXPECT_EQ(value_at(four, 1), -6);
    EXPECT_EQ(value_at(four, 2), 6);
    const QuantizedMatrix both = codes_of({.rule = ScaleBasis::nvfp4,
                                           .forward = kernels::fp4_e2m1_layout,
                                           .gradient = kernels::fp4_e2m1_layout,
                                           .block = 16});
    EXPECT_EQ(value_at(both, 1), -2688);
    EXPECT_EQ(both.inverse, 2688);
}

TEST(RecipeOptions, EvaluationIsQuantisedUnlessTheRecipeSaysOtherwise) {
    for (const bool evaluates : {true, false}) {
        QuantizedLayers layers(Recipe{.rule = ScaleBasis::tensor, .evaluates = evaluates}, {});
        const ModuleName name{"fc"};
        const ModuleScope module(name);
        const RecipeScope scope(&layers);
        EXPECT_NE(quantized_layer(), nullptr);
        const InferenceMode evaluation;
        EXPECT_EQ(quantized_layer() != nullptr, evaluates);
    }
}

TEST(RecipeOptions, ForwardProductsAreKeptFromAStepOn) {
    QuantizedLayers layers(Recipe{.rule = ScaleBasis::tensor}, {});
    layers.set_forward_kept_from(2);
    const auto layer = layers.find("fc");
    for (const bool quantizes : {true, true, false, false}) {
        EXPECT_EQ(layer->quantizes(LayerProduct::forward), quantizes);
        EXPECT_TRUE(layer->quantizes(LayerProduct::input_gradient));
        layers.end_step();
    }
}

// A rank draws the numbers of its rows of the whole batch.
TEST(RecipeOptions, RanksRoundAsOneProcess) {
    const Recipe four{.rule = ScaleBasis::mx,
                      .forward = kernels::fp4_e2m1_layout,
                      .gradient = kernels::fp4_e2m1_layout,
                      .block = 3,
                      .random_gradients = true};
    std::vector<double> values;
    for (int i = 0; i < 4 * 3 * 2; ++i) values.push_back(std::sin(i + 0.3));
    const auto codes = [&](const BatchShare& share, const std::vector<double>& of, std::int64_t rows) {
        const QuantizedStep now{.seed = 5, .step = 2, .operands = 3, .share = share};
        QuantizedLayer layer(four, now);
        return layer.quantize(on_host(of, {rows, 3}), gradient, Contraction::cols).codes.values();
    };
    const std::vector<double> whole = codes({}, values, 8);
    std::vector<double> parts;
    for (const BatchShare& share : {BatchShare{0, 3, 4}, BatchShare{3, 1, 4}}) {  // two rows a sample
        const std::int64_t rows = 2 * share.rows;
        const auto first = values.begin() + 6 * share.first;
        for (const double each : codes(share, {first, first + 3 * rows}, rows)) parts.push_back(each);
    }
    EXPECT_EQ(parts, whole);
}

TEST(RecipeOptions, AmaxOfAllRanksGivesTheScale) {
    const Tensor x = on_host({2}, {1, 1});
    for (const bool reduces : {true, false}) {
        QuantizedLayers layers(Recipe{.rule = ScaleBasis::tensor, .reduces_amax = reduces}, {});
        layers.set_ranks([](std::span<float> values) {
            for (float& each : values) each = std::max(each, 7.0f);
        });
        const auto layer = layers.find("fc");
        const float own = 1.0f / 224, all = 1.0f / 64;
        EXPECT_EQ(layer->quantize(x, input, Contraction::cols).inverse, reduces ? all : own);
        EXPECT_EQ(layer->weight(x, Contraction::cols).inverse, own) << "all ranks have the same";
    }
}

TEST(RecipeOptions, DelayedScalesFollowTheMagnitudesOfAllRanks) {
    const Recipe own{.rule = ScaleBasis::delayed, .history = 2, .shares_history = false};
    QuantizedLayers alone(RecipePlan{own, {}}, {"fc"});
    alone.set_ranks([](std::span<float> values) { values[0] = 1000; });
    alone.find("fc")->quantize(on_host({7}, {1, 1}), input, Contraction::cols);
    alone.end_step();
    EXPECT_EQ(alone.find("fc")->delayed()[0].scale(), 64);
    const Recipe recipe{.rule = ScaleBasis::delayed, .history = 2};
    for (const float other : {28.0f, 1.0f, endless}) {
        QuantizedLayers layers(RecipePlan{recipe, {}}, {"fc", "fc2"});
        std::size_t slots = 0;
        layers.set_ranks([&](std::span<float> values) {
            slots = values.size();
            values[0] = std::max(values[0], other);
        });
        const auto layer = layers.find("fc");
        layer->quantize(on_host({7}, {1, 1}), input, Contraction::cols);
        layers.begin({0, 0, 3});  // without a row of its own
        layer->quantize(on_host({500}, {1, 1}), input, Contraction::cols);
        layers.end_step();
        EXPECT_EQ(slots, 6u);
        EXPECT_EQ(layer->delayed()[0].scale(), other == 28 ? 16 : other == 1 ? 64 : 1);
    }
}

}  // namespace
}  // namespace engine
