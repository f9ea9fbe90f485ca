#include "ops/linalg/quantized_product.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "engine/base/error.h"
#include "ops/linalg/gemm_operand.h"
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
};

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

/// a b in `type`; bias (columns of b) of this type, or undefined.
Tensor coded_product(const CodedOperand& a, const CodedOperand& b, DType type,
                     const Tensor& bias = {}, bool relu = false) {
    const bool exact = fits_in_bf16(a.matrix, b.matrix);
    const DType operands = exact ? DType::bf16 : DType::f32;
    const int top_a = exact ? a.matrix.top : 0, top_b = exact ? b.matrix.top : 0;
    const Operand left = a.decoded(operands, top_a), right = b.decoded(operands, top_b);
    const auto factor = static_cast<float>(
        std::ldexp(a.matrix.factor() * b.matrix.factor(), top_a + top_b));
    const Shape shape{left.matrix.rows, right.matrix.cols};
    const Tensor y = Tensor::empty(shape, type, left.kept.device());
    if (!bias.defined() && !relu && exact && type != DType::f16) {
        gemm(y, left, right, {.alpha = static_cast<double>(factor)});
        return y;
    }
    const UseScope use(MemoryUse::workspace);
    const Tensor sums = Tensor::empty(shape, DType::f32, left.kept.device());
    gemm(sums, left, right);
    kernels::cpu::scale_sums({y.data(), type, shape[0], shape[1], shape[1]}, sums.data_as<float>(),
                             factor, bias.defined() ? bias.data() : nullptr, relu);
    return y;
}

/// The contraction of the weight in y = x w, or in dx = dy w.
Contraction weight_contraction(WeightShape shape, bool forward) {
    return (shape == WeightShape::out_in) == forward ? Contraction::cols : Contraction::rows;
}

}  // namespace

Tensor QuantizedProducts::forward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                  bool relu) {
    input_ = layer_->quantize(x, ProductOperand::input, Contraction::cols);
    const QuantizedMatrix w = layer_->weight(weight, weight_contraction(shape_, true));
    return coded_product({input_, false}, {w, shape_ == WeightShape::out_in}, x.dtype(),
                         bias.defined() ? row_major(bias) : bias, relu);
}

std::array<Save, 3> QuantizedProducts::saves(const Tensor& x, const Tensor& weight, bool by_input,
                                             bool by_weight) {
    if (by_weight && !layer_->recipe().has_one_set(ProductOperand::input))
        input_ = layer_->quantize(x, ProductOperand::input, Contraction::rows);
    const Tensor codes = std::exchange(input_.codes, {}), scales = std::exchange(input_.scales, {});
    const auto kept = [](const Tensor& t, bool needed) {
        return needed && t.defined() ? save(t) : Save{};
    };
    return {kept(codes, by_weight), kept(scales, by_weight), kept(weight, by_input)};
}

QuantizedProducts::Gradients QuantizedProducts::gradients(const Tensor& dy, const Saved& saved,
                                                          bool by_input, bool by_weight) const {
    if (grad_enabled())
        throw Error(ErrorCode::state,
                    msg("The gradient of a quantised product has no derivative."),
                    msg("Use a precision without a recipe."));
    const bool out_in = shape_ == WeightShape::out_in;
    Gradients out;
    QuantizedMatrix g;
    if (by_input) {
        g = layer_->quantize(dy, ProductOperand::gradient, Contraction::cols);
        const QuantizedMatrix w = layer_->weight(saved[2], weight_contraction(shape_, false));
        out.input = coded_product({g, false}, {w, !out_in}, dy.dtype());
    }
    if (!by_weight) return out;
    if (!by_input || !layer_->recipe().has_one_set(ProductOperand::gradient))
        g = layer_->quantize(dy, ProductOperand::gradient, Contraction::rows);
    QuantizedMatrix x = input_;
    x.codes = saved[0];
    x.scales = saved[1];
    out.weight = out_in ? coded_product({g, true}, {x, false}, dy.dtype())
                        : coded_product({x, true}, {g, false}, dy.dtype());
    return out;
}

}  // namespace engine
