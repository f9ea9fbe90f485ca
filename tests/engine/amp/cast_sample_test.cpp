#include "amp/cast_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "amp/recipe.h"
#include "engine/settings/setting_words.h"
#include "models/recipes.h"

namespace engine {
namespace {

std::vector<RecipeKind> all_kinds() {
    std::vector<RecipeKind> out;
    for (const auto& word : setting_words<RecipeKind>)
        if (word.value != RecipeKind::none) out.push_back(word.value);
    return out;
}

constexpr std::int64_t rows = 48, cols = 80;

/// Values over many binades, with zeros; `fault` in one place.
Tensor wide_values(double fault = 0.5) {
    std::mt19937 draws(7);
    std::normal_distribution<double> normal, exponent(0, 6);
    std::vector<double> values;
    for (std::int64_t i = 0; i < rows * cols; ++i)
        values.push_back(i % 17 == 0 ? 0 : normal(draws) * std::exp2(exponent(draws)));
    values[1234] = fault;
    return Tensor::of(values, {rows, cols}, DType::bf16, Device{});
}

struct Cast {
    QuantizedMatrix codes;
    CastSample sample;
};

Cast cast(const Recipe& recipe, const Tensor& x, Contraction along = Contraction::cols) {
    QuantizedLayers layers(recipe, {});
    layers.examine_next(true);
    Cast out{.codes = layers.find("fc")->quantize(x, ProductOperand::gradient, along), .sample = {}};
    layers.end_step();
    EXPECT_EQ(layers.samples().size(), 1u);
    out.sample = layers.samples().at(0).casts;
    return out;
}

/// The figures counted from codes and values, one by one.
CastSample recount(const Tensor& x, const QuantizedMatrix& codes) {
    CastSample out;
    const std::vector<double> values = x.values();
    const std::vector<double> decoded = codes.values(DType::f32, 0).values();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t code =
            codes.codes.data_as<std::uint8_t>()[i] & codes.layout.mask();
        ++out.elements;
        if (!std::isfinite(values[i])) {
            ++out.nonfinite;
            continue;
        }
        const float size = static_cast<float>(std::abs(values[i]));
        out.amax = std::max(out.amax, size);
        out.subnormal += code > 0 && code < (1u << codes.layout.fraction_bits) ? 1 : 0;
        if (std::isnan(decoded[i])) continue;
        out.zeroed += values[i] != 0 && code == 0 ? 1 : 0;
        out.signal2 += values[i] * values[i];
        out.error2 += std::pow(decoded[i] * codes.factor() - values[i], 2);
    }
    return out;
}

double kept_share(const Tensor& x, float scale, kernels::FloatLayout layout) {
    double kept = 0, all = 0;
    for (const double value : x.values()) {
        if (value == 0) continue;
        const float scaled = static_cast<float>(value) * scale;
        kept += (kernels::to_small_float(scaled, layout, kernels::Saturate::finite) &
                 layout.mask()) != 0
                    ? 1
                    : 0;
        ++all;
    }
    return kept / all;
}

TEST(CastSample, IsADirectCount) {
    const Tensor x = wide_values();
    for (const RecipeKind kind : all_kinds()) {
        SCOPED_TRACE(word_of(kind));
        const auto [codes, sample] = cast(make_recipe(kind), x);
        const CastSample direct = recount(x, codes);
        EXPECT_EQ(sample.elements, rows * cols);
        EXPECT_EQ(sample.nonfinite, 0);
        EXPECT_EQ(sample.zeroed, direct.zeroed);
        EXPECT_EQ(sample.subnormal, direct.subnormal);
        EXPECT_EQ(sample.amax, direct.amax);
        EXPECT_NEAR(sample.signal2, direct.signal2, 1e-9 * direct.signal2);
        EXPECT_NEAR(sample.error2, direct.error2, 1e-4 * direct.error2);
        EXPECT_LE(sample.block_scale_min, sample.block_scale_max);
        std::int64_t blocks = 0;
        for (const std::int64_t each : sample.scale_codes) blocks += each;
        EXPECT_EQ(blocks, codes.scales.defined() ? codes.blocks.count() : 0);
        EXPECT_EQ(sample.noise2 > 0, make_recipe(kind).random_gradients);
    }
}

TEST(CastSample, FloorKeepsAllButOneInAThousand) {
    const Tensor x = wide_values();
    for (const RecipeKind kind : {RecipeKind::fp8_current, RecipeKind::mxfp8, RecipeKind::nvfp4}) {
        const Recipe recipe = make_recipe(kind);
        const float floor = cast(recipe, x).sample.scale_floor;
        EXPECT_GE(kept_share(x, floor, recipe.gradient), 0.999);
        EXPECT_LT(kept_share(x, floor / 2.01f, recipe.gradient), 0.999);
    }
}

TEST(CastSample, LeavesOutWhatIsNotFinite) {
    const Tensor x = wide_values(std::numeric_limits<double>::infinity());
    const CastSample of_tensor = cast(make_recipe(RecipeKind::fp8_current), x).sample;
    EXPECT_EQ(of_tensor.nonfinite, 1);
    EXPECT_TRUE(std::isfinite(of_tensor.error2));
    const CastSample of_blocks = cast(make_recipe(RecipeKind::mxfp8), x).sample;
    EXPECT_EQ(of_blocks.nonfinite, 1);
    EXPECT_EQ(of_blocks.scale_codes.at(255), 1);
    EXPECT_LT(of_blocks.signal2, of_tensor.signal2);  // a whole block is NaN
}

// 2^-40 in a block of 16, beside a block of ones: the E4M3 code of its scale is 0.
TEST(CastSample, CountsBlocksThatAreZeroed) {
    std::vector<double> values(32, 1.0);
    for (std::size_t i = 0; i < 16; ++i) values[i] = std::exp2(-40);
    const Tensor x = Tensor::of(values, {1, 32}, DType::bf16, Device{});
    const CastSample sample = cast(make_recipe(RecipeKind::nvfp4), x).sample;
    EXPECT_EQ(sample.zero_blocks, 1);
    EXPECT_EQ(sample.zeroed, 16);
}

// The variance of a value between two neighbours is (up share)(1 - up share) of their distance.
TEST(CastSample, NoiseIsTheVarianceOfTheDraws) {
    std::vector<double> values(16, 0.25);
    values[0] = 6;
    const Tensor x = Tensor::of(values, {1, 16}, DType::bf16, Device{});
    const CastSample sample = cast(make_recipe(RecipeKind::nvfp4), x).sample;
    EXPECT_NEAR(sample.noise2, 15 * 0.25 * 0.25, 1e-3);
}

TEST(CastSample, ScaleOfTwoLevelsIsThatOfAllRanks) {
    Recipe recipe = make_recipe(RecipeKind::nvfp4);
    recipe.reduces_amax = true;
    QuantizedLayers layers(recipe, {});
    layers.set_ranks([](std::span<float> values) { std::ranges::fill(values, 1e6f); });
    layers.examine_next(true);
    layers.find("fc")->quantize(wide_values(), ProductOperand::input, Contraction::cols);
    layers.end_step();
    EXPECT_EQ(layers.samples().at(0).casts.scale, 2688.0f / 1e6f);
}

TEST(CastSample, OfAWeightIsTakenOnceAStep) {
    QuantizedLayers layers(make_recipe(RecipeKind::fp8_current), {});
    const Tensor w = wide_values();
    const auto layer = layers.find("fc");
    layer->weight(w, Contraction::cols);  // before the step
    layers.examine_next(true);
    for (int i = 0; i < 3; ++i) layer->weight(w, Contraction::cols);
    layers.end_step();
    ASSERT_EQ(layers.samples().size(), 1u);
    EXPECT_EQ(layers.samples()[0].casts.elements, rows * cols);
    layer->weight(w, Contraction::cols);
    layers.end_step();
    EXPECT_TRUE(layers.samples().empty());
}

}  // namespace
}  // namespace engine
