#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "amp/recipe.h"
#include "tensor/philox.h"

// Products by codes beside those of the decoded codes in f64.
namespace engine::coded_products {

inline const Recipe recipes[] = {
    {.rule = ScaleBasis::tensor},
    {.rule = ScaleBasis::delayed, .history = 2},
    {.rule = ScaleBasis::row, .gradient = kernels::fp8_e4m3_layout, .powers_of_two = true},
    {.rule = ScaleBasis::block,
     .gradient = kernels::fp8_e4m3_layout,
     .block = 128,
     .square_weights = true,
     .powers_of_two = true},
    {.rule = ScaleBasis::mx, .gradient = kernels::fp8_e4m3_layout, .block = 32},
    {.rule = ScaleBasis::mx,
     .forward = kernels::fp4_e2m1_layout,
     .gradient = kernels::fp4_e2m1_layout,
     .block = 32,
     .random_gradients = true},
    {.rule = ScaleBasis::nvfp4,
     .forward = kernels::fp4_e2m1_layout,
     .gradient = kernels::fp4_e2m1_layout,
     .block = 16,
     .square_weights = true,
     .random_gradients = true,
     .rotates_rows = true},
    // f32 scales of rows and blocks, and one of the whole weight in the backward pass
    {.rule = ScaleBasis::row, .gradient = kernels::fp8_e4m3_layout},
    {.rule = ScaleBasis::block,
     .gradient = kernels::fp8_e4m3_layout,
     .block = 128,
     .square_weights = true},
    {.rule = ScaleBasis::tensor, .powers_of_two = true},
};

inline Tensor drawn(const Shape& shape, std::uint32_t substream, DType type = DType::f32) {
    const RandomStream stream(1, StreamId::init, substream);
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); i += 2) {
        const auto words = stream.block(static_cast<std::uint64_t>(i));
        for (const double each : RandomStream::to_normals(words[0], words[1]))
            values.push_back(each);
    }
    values.resize(static_cast<std::size_t>(shape.numel()));
    return Tensor::of(values, shape, type, Device{});
}

/// The values of the codes in f64.
inline std::vector<double> coded(const Recipe& recipe, const Tensor& x, ProductOperand operand,
                                 Contraction along) {
    QuantizedLayer layer(recipe);
    const QuantizedMatrix codes = layer.quantize(x, operand, along);
    std::vector<double> out = codes.values(DType::f32, 0).values();
    for (double& each : out) each *= codes.factor();
    return out;
}

struct Side {
    std::vector<double> values;
    std::int64_t cols;
    bool swap;
    double at(std::int64_t i, std::int64_t j) const {
        return values[static_cast<std::size_t>(swap ? j * cols + i : i * cols + j)];
    }
};

/// found = a b + bias within the rounding of f32 sums of k terms, of the scales, of the bias and,
/// for bf16, of the result (half a unit in its last place is at most 2^-8 of the value).
inline void expect_product(const Tensor& found, const Side& a, const Side& b, std::int64_t k,
                           const Tensor& bias = {}) {
    const std::int64_t rows = found.size(0), cols = found.size(1);
    const std::vector<double> values = found.values();
    const std::vector<double> added = bias.defined() ? bias.values() : std::vector<double>();
    const auto width = static_cast<std::size_t>(cols);
    std::vector<double> right;
    for (std::int64_t t = 0; t < k; ++t)
        for (std::int64_t j = 0; j < cols; ++j) right.push_back(b.at(t, j));
    const double last_place = found.dtype() == DType::bf16 ? 0x1p-8 : 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        std::vector<double> sums(width), sizes(width);
        if (bias.defined()) sums = added;
        for (std::int64_t t = 0; t < k; ++t) {
            const double left = a.at(i, t);
            const double* const terms = right.data() + t * cols;
            for (std::size_t j = 0; j < width; ++j) {
                sums[j] += left * terms[j];
                sizes[j] += std::abs(left * terms[j]);
            }
        }
        for (std::size_t j = 0; j < width; ++j)
            ASSERT_NEAR(values[static_cast<std::size_t>(i) * width + j], sums[j],
                        static_cast<double>(k + 4) * 0x1p-24 * sizes[j] +
                            last_place * std::abs(sums[j]) + 1e-30)
                << i << ' ' << j;
    }
}

/// Quantises what runs in the module fc.
class InAQuantizedLayer {
public:
    explicit InAQuantizedLayer(const Recipe& recipe) : layers(recipe, {}), scope_(&layers) {}
    QuantizedLayers layers;

private:
    const ModuleName name_{"fc"};
    const ModuleScope module_{name_};
    RecipeScope scope_;
};

}  // namespace engine::coded_products
