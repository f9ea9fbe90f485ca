#include "ops/linalg/quantized_product.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "engine/base/error.h"
#include "ops/linalg/gemm_operand.h"
#include "ops/linalg/matmul.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// A factor of an operand beside its codes' values, as a product applies it.
struct CodedOperand {
    const QuantizedMatrix& matrix;
    bool swap;

    Operand decoded(DType type, int shift) const {
        return operand(matrix.values(type, shift), swap);
    }
    /// Terms of the product's sums, for a left operand; for a right one rows are columns.
    std::int64_t terms() const { return swap ? matrix.blocks.rows : matrix.blocks.cols; }
    std::int64_t terms_of_block() const {
        return swap ? matrix.blocks.block_rows : matrix.blocks.block_cols;
    }
    /// The inverses of the scales of its vectors, from the term `first` on; (rows of the left
    /// operand, or columns of the right one).
    std::vector<float> inverses(std::int64_t first) const {
        const kernels::Blocks& b = matrix.blocks;
        const std::int64_t vectors = swap ? b.cols : b.rows;
        std::vector<float> out(static_cast<std::size_t>(vectors), matrix.inverse);
        if (!matrix.has_f32_scales()) return out;
        const auto* const own = matrix.scales.data_as<float>();
        for (std::int64_t i = 0; i < vectors; ++i)
            out[static_cast<std::size_t>(i)] =
                swap ? own[first / b.block_rows * b.across() + i / b.block_cols]
                     : own[i / b.block_rows * b.across() + first / b.block_cols];
        return out;
    }
};

/// The other side of a product: its rows are the terms of the sums.
CodedOperand turned(const CodedOperand& right) { return {right.matrix, !right.swap}; }

/// Exponent of the smallest value of a format, negated.
int smallest_exponent(kernels::FloatLayout layout) {
    return layout.bias() - 1 + layout.fraction_bits;
}

/// Whether the products of the decoded values, moved by the power of two that makes each operand's
/// largest block exponent 0, and all partial sums are normal f32, and the factor that moves the sum
/// back is one too.
bool fits_in_bf16(const QuantizedMatrix& a, const QuantizedMatrix& b) {
    const int smallest = smallest_exponent(a.layout) + smallest_exponent(b.layout);
    return a.span + b.span <= 126 - smallest && std::abs(a.top + b.top) <= 120;
}

bool is_normal_f32(double size) {
    using f32 = std::numeric_limits<float>;
    return size >= static_cast<double>(f32::min()) && size <= static_cast<double>(f32::max());
}

/// f32 sums of products whose scales are f32: those of as many terms as have one scale, scaled and
/// added up. Source: DeepSeek-V3.
Tensor sums_of_scaled_parts(const CodedOperand& a, const CodedOperand& b) {
    const CodedOperand right = turned(b);
    const std::int64_t terms = a.terms();
    const std::int64_t part = std::min(a.terms_of_block(), right.terms_of_block());
    const Tensor left_values = a.matrix.code_values(DType::bf16);
    const Tensor right_values = b.matrix.code_values(DType::bf16);
    const std::int64_t rows = a.swap ? a.matrix.blocks.cols : a.matrix.blocks.rows;
    const std::int64_t cols = b.swap ? b.matrix.blocks.rows : b.matrix.blocks.cols;
    const Tensor sums = Tensor::zeros({rows, cols}, DType::f32, Device{});
    const Tensor own = Tensor::empty({rows, cols}, DType::f32, Device{});
    for (std::int64_t first = 0; first < terms; first += part) {
        const std::int64_t last = std::min(terms, first + part);
        gemm(own, operand(slice(left_values, a.swap ? 0 : 1, first, last), a.swap),
             operand(slice(right_values, b.swap ? 1 : 0, first, last), b.swap));
        kernels::cpu::add_scaled_sums(sums.data_as<float>(), own.data_as<float>(), rows, cols,
                                      a.inverses(first).data(), right.inverses(first).data());
    }
    return sums;
}

/// f32 sums of few bits of all values but for their factor.
Tensor sums_of_few_bits(const CodedOperand& a, const CodedOperand& b,
                        kernels::cpu::FewBitSums how) {
    const auto dense_values = [](const CodedOperand& each) {
        const Tensor values = each.matrix.values(DType::f32, 0);
        return in_layout(each.swap ? transpose(values, 0, 1) : values, Layout::contiguous);
    };
    const Tensor left = dense_values(a), right = dense_values(b);
    const Tensor sums = Tensor::empty({left.size(0), right.size(1)}, DType::f32, Device{});
    kernels::cpu::multiply_in_few_bits(sums.data_as<float>(), left.data_as<float>(),
                                       right.data_as<float>(), left.size(0), left.size(1),
                                       right.size(1), how);
    return sums;
}

/// a b in `type`; bias (columns of b) of this type, or undefined. No bits of sums: those of f32.
Tensor coded_product(const CodedOperand& a, const CodedOperand& b, DType type,
                     kernels::cpu::FewBitSums how, const Tensor& bias = {}, bool relu = false) {
    const MemoryUse use_of_result = ComputeContext::of_thread().use;
    const auto rounded = [&](const Tensor& sums, float factor) {
        const UseScope use(use_of_result);
        const std::int64_t rows = sums.size(0), cols = sums.size(1);
        const Tensor y = Tensor::empty({rows, cols}, type, sums.device());
        kernels::cpu::scale_sums({y.data(), type, rows, cols, cols}, sums.data_as<float>(), factor,
                                 bias.defined() ? bias.data() : nullptr, relu);
        return y;
    };
    if (how.bits > 0) {
        const UseScope use(MemoryUse::workspace);
        return rounded(sums_of_few_bits(a, b, how),
                       static_cast<float>(a.matrix.factor() * b.matrix.factor()));
    }
    if (a.matrix.has_f32_scales() || b.matrix.has_f32_scales()) {
        const UseScope use(MemoryUse::workspace);
        return rounded(sums_of_scaled_parts(a, b), 1);
    }
    const bool exact = fits_in_bf16(a.matrix, b.matrix);
    const DType operands = exact ? DType::bf16 : DType::f32;
    const int top_a = exact ? a.matrix.top : 0, top_b = exact ? b.matrix.top : 0;
    const Operand left = a.decoded(operands, top_a), right = b.decoded(operands, top_b);
    const double scale = std::ldexp(a.matrix.factor() * b.matrix.factor(), top_a + top_b);
    const auto factor = static_cast<float>(scale);
    const Shape shape{left.matrix.rows, right.matrix.cols};
    if (!bias.defined() && !relu && exact && type != DType::f16 && is_normal_f32(scale)) {
        const Tensor y = Tensor::empty(shape, type, left.kept.device());
        gemm(y, left, right, {.alpha = static_cast<double>(factor)});
        return y;
    }
    const UseScope use(MemoryUse::workspace);
    const Tensor sums = Tensor::empty(shape, DType::f32, left.kept.device());
    gemm(sums, left, right);
    if (is_normal_f32(scale)) return rounded(sums, factor);
    // The sums take a part of a factor that f32 cannot hold: they are of the other extreme.
    const int part = scale < 1 ? -64 : 64;
    kernels::cpu::scale_sums({sums.data(), DType::f32, shape[0], shape[1], shape[1]},
                             sums.data_as<float>(), std::ldexp(1.0f, part), nullptr, false);
    return rounded(sums, static_cast<float>(std::ldexp(scale, -part)));
}

bool has_four_bits(kernels::FloatLayout layout) { return layout.mask() < 8; }

/// As they are saved: codes of 4 bits two a byte.
Tensor packed(const Tensor& codes, kernels::FloatLayout layout) {
    if (!codes.defined() || !has_four_bits(layout)) return codes;
    const UseScope use(MemoryUse::codes);
    const Tensor out = Tensor::empty({(codes.numel() + 1) / 2}, DType::u8, codes.device());
    kernels::cpu::pack_codes(out.data_as<std::uint8_t>(), codes.data_as<std::uint8_t>(),
                             codes.numel());
    return out;
}

Tensor unpacked(const Tensor& saved, const Shape& shape, kernels::FloatLayout layout) {
    if (!has_four_bits(layout)) return saved;
    const UseScope use(MemoryUse::workspace);
    const Tensor out = Tensor::empty(shape, DType::u8, saved.device());
    kernels::cpu::unpack_codes(out.data_as<std::uint8_t>(), saved.data_as<std::uint8_t>(),
                               out.numel());
    return out;
}

/// The contraction of the weight in y = x w, or in dx = dy w.
Contraction weight_contraction(WeightShape shape, bool forward) {
    return (shape == WeightShape::out_in) == forward ? Contraction::cols : Contraction::rows;
}

}  // namespace

QuantizedProducts::QuantizedProducts(std::shared_ptr<QuantizedLayer> layer, WeightShape shape)
    : layer_(std::move(layer)), shape_(shape) {
    for (std::size_t i = 0; i < quantizes_.size(); ++i)
        quantizes_[i] = layer_->quantizes(static_cast<LayerProduct>(i));
}

Tensor QuantizedProducts::forward(const Tensor& x, const LayerWeight& weight, const Tensor& bias,
                                  bool relu) {
    const bool out_in = shape_ == WeightShape::out_in;
    const Tensor added = bias.defined() ? row_major(bias) : bias;
    if (!quantizes(LayerProduct::forward)) {
        const Operand right = operand(weight.low, out_in);
        const Tensor y = Tensor::empty({x.size(0), right.matrix.cols}, x.dtype(), x.device());
        gemm(y, operand(x, false), right,
             {.bias = added.defined() ? added.data() : nullptr, .relu = relu});
        return y;
    }
    input_ = layer_->quantize(x, ProductOperand::input, Contraction::cols);
    const QuantizedMatrix w = layer_->weight(weight.own, weight_contraction(shape_, true));
    return coded_product({input_, false}, {w, out_in}, x.dtype(), sums(), added, relu);
}

std::array<Save, 3> QuantizedProducts::saves(const Tensor& x, const LayerWeight& weight,
                                             bool by_input, bool by_weight) {
    const bool codes_x = quantizes(LayerProduct::weight_gradient);
    const bool has_codes =
        input_.codes.defined() && layer_->recipe().has_one_set(ProductOperand::input);
    if (by_weight && codes_x && !has_codes)
        input_ = layer_->quantize(x, ProductOperand::input, Contraction::rows);
    const Tensor codes = packed(std::exchange(input_.codes, {}), input_.layout);
    const Tensor scales = std::exchange(input_.scales, {});
    const auto kept = [](const Tensor& t, bool needed) {
        return needed && t.defined() ? save(t) : Save{};
    };
    const bool codes_w = quantizes(LayerProduct::input_gradient);
    return {kept(codes_x ? codes : x, by_weight), kept(scales, by_weight && codes_x),
            kept(codes_w ? weight.own : weight.low, by_input)};
}

Tensor QuantizedProducts::input_gradient(const Tensor& dy, const Saved& saved,
                                         QuantizedMatrix& g) const {
    const bool out_in = shape_ == WeightShape::out_in;
    if (!quantizes(LayerProduct::input_gradient)) return product(dy, false, saved[2], !out_in);
    g = layer_->quantize(dy, ProductOperand::gradient, Contraction::cols);
    const QuantizedMatrix w =
        layer_->weight(saved[2], weight_contraction(shape_, false), /*backward=*/true);
    return coded_product({g, false}, {w, !out_in}, dy.dtype(), sums());
}

Tensor QuantizedProducts::weight_gradient(const Tensor& dy, const Saved& saved,
                                          QuantizedMatrix& g) const {
    const bool out_in = shape_ == WeightShape::out_in;
    if (!quantizes(LayerProduct::weight_gradient))
        return out_in ? product(dy, true, saved[0], false) : product(saved[0], true, dy, false);
    if (!g.codes.defined() || !layer_->recipe().has_one_set(ProductOperand::gradient))
        g = layer_->quantize(dy, ProductOperand::gradient, Contraction::rows);
    QuantizedMatrix x = input_;
    x.codes = unpacked(saved[0], {x.blocks.rows, x.blocks.cols}, x.layout);
    x.scales = saved[1];
    return out_in ? coded_product({g, true}, {x, false}, dy.dtype(), sums())
                  : coded_product({x, true}, {g, false}, dy.dtype(), sums());
}

QuantizedProducts::Gradients QuantizedProducts::gradients(const Tensor& dy, const Saved& saved,
                                                          bool by_input, bool by_weight) const {
    if (grad_enabled())
        throw Error(ErrorCode::state, msg("The gradient of a quantised product has no derivative."),
                    msg("Use a precision without a recipe."));
    Gradients out;
    QuantizedMatrix g;
    if (by_input) out.input = input_gradient(dy, saved, g);
    if (by_weight) out.weight = weight_gradient(dy, saved, g);
    return out;
}

}  // namespace engine
