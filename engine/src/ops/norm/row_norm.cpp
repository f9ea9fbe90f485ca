#include "ops/norm/row_norm.h"

#include "engine/base/error.h"
#include "tensor/layout.h"
#include "tensor/wide.h"

namespace engine {
namespace {

Tensor rows_first(const Tensor& t) { return t.defined() ? in_layout(t, Layout::contiguous) : t; }

}  // namespace

void check_norm_parameters(const OpInfo& info, const Tensor& x,
                           std::initializer_list<Tensor> parameters) {
    for (const auto& t : parameters) {
        if (!t.defined() || t.dtype() == x.dtype()) continue;
        if (is_low(x.dtype()) && t.dtype() == DType::f32) continue;
        throw Error(
            ErrorCode::dtype,
            std::string(info.name) + ": the input is " + name(x.dtype()) + ", a parameter is " +
                name(t.dtype()),
            "Parameters are of the input's type, or fp32 beside a 16-bit input; cast one of them.");
    }
}

RowNorm row_norm(const OpInfo& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                 const kernels::LayerNormShape& shape, DType out) {
    const DType wide = wide_type(x.dtype());
    const Tensor from = rows_first(x), scale = rows_first(weight), shift = rows_first(bias);
    RowNorm made{Tensor::empty(x.shape(), out, x.device()), Tensor(),
                 Tensor::empty({shape.rows}, wide, x.device())};
    if (!shape.rms) made.mean = Tensor::empty({shape.rows}, wide, x.device());
    on(x.device(), kernels::cpu::layer_norm_forward, kernels::cuda::layer_norm_forward)(
        made.y.array(), shape.rms ? kernels::Array{nullptr, wide, 0} : made.mean.array(),
        made.rstd.array(), from.array(), array_or_null(scale, wide), array_or_null(shift, wide),
        shape, current_stream());
    const Tensor inputs[] = {x, weight, bias};
    const Shape parameter_shape = weight.defined() ? weight.shape()
                                  : bias.defined() ? bias.shape()
                                                   : Shape{shape.cols};
    made.y = record_many(
        info, inputs, made.y, {save(x), save(weight), save(made.mean), save(made.rstd)},
        [shape, parameter_shape](std::span<const Tensor> grads, const Saved& saved) {
            TensorList found =
                row_norm_backward({.dy = grads[0],
                                   .x = saved[0],
                                   .weight = saved[1],
                                   .mean = saved[2],
                                   .rstd = saved[3],
                                   .shape = shape,
                                   .parameters = saved.needs_gradient(1) || saved.needs_gradient(2),
                                   .parameter_shape = parameter_shape});
            found.resize(3);
            return found;
        });
    return made;
}

}  // namespace engine
