#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "amp/recipe.h"
#include "autograd/backward.h"
#include "models/recipes.h"
#include "ops/linalg/linear.h"
#include "support/golden_lines.h"

// Scales, codes and products of torchao's and PyTorch's FP8 (tests/peer/recipe_golden.py,
// recipe_formula_golden.py).

namespace engine {
namespace {

constexpr kernels::PhiloxKey key{56, 0};

/// Signed bf16 with exponents from 2^-9 to 2^2.
Tensor operand(std::uint32_t index, const Shape& shape) {
    const kernels::PhiloxStream stream{key, 1104, index};
    const Tensor out = Tensor::empty(shape, DType::bf16, Device{});
    auto* const bits = out.data_as<std::uint16_t>();
    for (std::int64_t i = 0; i < out.numel(); ++i) {
        const auto at = static_cast<std::uint64_t>(2 * i);
        const std::uint32_t exponent = stream.bounded(at, 12) + 118;
        const std::uint32_t word = (stream.at(at + 1) & 0x807f0000u) | exponent << 23;
        bits[i] = static_cast<std::uint16_t>(word >> 16);
    }
    return out;
}

struct Operand {
    Tensor values;
    ProductOperand role;
};
const std::map<std::string, Operand>& operands() {
    static const std::map<std::string, Operand> all{
        {"x", {operand(0, {48, 64}), ProductOperand::input}},
        {"w", {operand(1, {40, 64}), ProductOperand::weight}},
        {"g", {operand(2, {48, 40}), ProductOperand::gradient}}};
    return all;
}

std::uint32_t bits_of(const std::string& word) {
    return static_cast<std::uint32_t>(std::stoul(word, nullptr, 16));
}

void expect_codes(RecipeKind kind, const std::vector<std::string>& words) {
    SCOPED_TRACE(words[0] + ' ' + words[1]);
    QuantizedLayer layer(make_recipe(kind));
    const auto& [x, role] = operands().at(words[0]);
    const Contraction along = words[1] == "cols" ? Contraction::cols : Contraction::rows;
    const QuantizedMatrix codes = layer.quantize(x, role, along);
    std::size_t at = 2;
    for (std::int64_t i = 0; i < codes.blocks.count(); ++i, ++at) {
        const float scale = std::bit_cast<float>(bits_of(words[at]));
        if (codes.scales.defined())
            EXPECT_EQ(kernels::from_e8m0(codes.scales.data_as<std::uint8_t>()[i]), 1 / scale);
        else
            EXPECT_EQ(codes.inverse, 1 / scale);
    }
    ASSERT_EQ(words[at++], "|");
    const auto* const code = codes.codes.data_as<std::uint8_t>();
    const std::int64_t rows = codes.codes.size(0), cols = codes.codes.size(1);
    for (std::int64_t row = 0; row < rows; ++row, ++at) {
        std::uint32_t sum = 0;
        for (std::int64_t col = 0; col < cols; ++col)
            sum += code[row * cols + col] * static_cast<std::uint32_t>(col + 1);
        EXPECT_EQ(sum, bits_of(words[at])) << row;
    }
}

TEST(RecipeGolden, CurrentScalesAndTheirCodesAreThePeers) {
    const auto lines = test_support::golden_lines("recipes.txt.xz", "current");
    EXPECT_EQ(lines.size(), 3u);
    for (const auto& words : lines) expect_codes(RecipeKind::fp8_current, words);
}

TEST(RecipeGolden, ScalesOfRowsAndTheirCodesAreThePeers) {
    const auto lines = test_support::golden_lines("recipes.txt.xz", "rowwise");
    EXPECT_EQ(lines.size(), 6u);
    for (const auto& words : lines) expect_codes(RecipeKind::fp8_rowwise, words);
}

// f32 sums in another order: both are within gamma = k 2^-24 of the sum of magnitudes, which the
// largest result of a few hundred terms bounds by far less than 100 times.
TEST(RecipeGolden, ProductsAreThePeers) {
    Tensor x = operands().at("x").values.detach(), w = operands().at("w").values.detach();
    const Tensor wide_x = Tensor::of(x.values(), x.shape(), DType::f32, Device{});
    Tensor leaf = wide_x, weight = Tensor::of(w.values(), w.shape(), DType::f32, Device{});
    leaf.set_requires_grad(true);
    weight.set_requires_grad(true);
    const Tensor g = operands().at("g").values;
    const Tensor dy = Tensor::of(g.values(), g.shape(), DType::f32, Device{});
    QuantizedLayers layers(make_recipe(RecipeKind::fp8_current), {});
    const ModuleName name{"fc"};
    const ModuleScope module(name);
    const RecipeScope scope(&layers);
    const Tensor y = linear(leaf, weight);
    backward({&y, 1}, {&dy, 1});
    const std::map<std::string, std::vector<double>> found{
        {"y", y.values()}, {"dx", leaf.grad().values()}, {"dw", weight.grad().values()}};
    for (const auto& words : test_support::golden_lines("recipes.txt.xz", "product")) {
        const std::vector<double>& own = found.at(words[0]);
        for (std::size_t i = 1; i < words.size(); ++i) {
            const double expected = static_cast<double>(std::bit_cast<float>(bits_of(words[i])));
            EXPECT_NEAR(own.at((i - 1) * 97), expected, 1e-4) << words[0] << ' ' << i;
        }
    }
}

TEST(RecipeGolden, TiledScalesLieWhereThePeersDo) {
    const auto lines = test_support::golden_lines("recipe_formulas.txt.xz", "tiles");
    EXPECT_EQ(lines.size(), 5u);
    std::uint32_t index = 0;
    for (const auto& words : lines) {
        const std::int64_t rows = std::stoll(words[0]), cols = std::stoll(words[1]);
        const kernels::PhiloxStream stream{key, 1105, index++};
        std::vector<std::uint8_t> scales,
            tiled(static_cast<std::size_t>(kernels::tiled_scales_size(rows, cols)));
        for (std::int64_t i = 0; i < rows * cols; ++i)
            scales.push_back(static_cast<std::uint8_t>(stream.at(static_cast<std::uint64_t>(i))));
        kernels::cpu::tile_scales(tiled.data(), scales.data(), rows, cols);
        ASSERT_EQ(tiled.size() / 512, words.size() - 2);
        for (std::size_t tile = 0; tile < tiled.size() / 512; ++tile) {
            std::uint32_t sum = 0;
            for (std::uint32_t i = 0; i < 512; ++i) sum += (i + 1) * tiled[tile * 512 + i];
            EXPECT_EQ(sum, bits_of(words[tile + 2])) << rows << ' ' << cols << ' ' << tile;
        }
    }
}

// Within the rounding of f32 sums of k terms and of bf16; the golden line has each exact value, and
// the sum of the magnitudes of its products.
TEST(RecipeGolden, ProductsWithTheGradientOfTheWeightKeptAreThePeers) {
    Tensor x = operands().at("x").values.detach(), w = operands().at("w").values.detach();
    x.set_requires_grad(true);
    w.set_requires_grad(true);
    const Tensor& dy = operands().at("g").values;
    QuantizedLayers layers(make_recipe(RecipeKind::fp8_rowwise_gw), {});
    const ModuleName name{"fc"};
    const ModuleScope module(name);
    const RecipeScope scope(&layers);
    const Tensor y = linear(x, w);
    backward({&y, 1}, {&dy, 1});
    const std::map<std::string, std::vector<double>> found{
        {"y", y.values()}, {"dx", x.grad().values()}, {"dw", w.grad().values()}};
    const auto lines = test_support::golden_lines("recipe_formulas.txt.xz", "gw");
    EXPECT_EQ(lines.size(), 3u);
    for (const auto& words : lines) {
        const std::vector<double>& own = found.at(words[0]);
        for (std::size_t i = 0; 2 * i + 2 < words.size(); ++i) {
            const auto number = [&](std::size_t place) {
                return static_cast<double>(std::bit_cast<float>(bits_of(words[place])));
            };
            const double expected = number(2 * i + 1), size = number(2 * i + 2);
            EXPECT_NEAR(own.at(i * 97), expected,
                        (64 + 4) * 0x1p-24 * size + 0x1p-8 * std::abs(expected))
                << words[0] << ' ' << i;
        }
    }
}

}  // namespace
}  // namespace engine
