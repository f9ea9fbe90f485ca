#include "ops/norm/layer_norm.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/layer_norm.h"
#include "ops/norm/row_norm.h"
#include "ops/pointwise/binary.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

void check_shape(const Op& info, const Tensor& x, const Shape& normalized_shape,
                 const Tensor& parameter) {
    const int lead = x.rank() - normalized_shape.rank();
    bool fits = normalized_shape.rank() > 0 && lead >= 0;
    for (int i = 0; fits && i < normalized_shape.rank(); ++i)
        fits = x.size(lead + i) == normalized_shape[i];
    if (!fits) {
        throw Error(ErrorCode::shape,
                    std::string(info.name) + ": normalized_shape " + to_string(normalized_shape) +
                        " does not end the input's shape " + to_string(x.shape()));
    }
    if (parameter.defined() && !(parameter.shape() == normalized_shape)) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": a parameter has shape " +
                                          to_string(parameter.shape()) + ", normalized_shape is " +
                                          to_string(normalized_shape));
    }
}

RowNorm normalized(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const Shape& normalized_shape, std::optional<double> asked_eps, bool rms) {
    check_floating(info, x);
    check_norm_parameters(info, x, {weight, bias});
    check_shape(info, x, normalized_shape, weight);
    check_shape(info, x, normalized_shape, bias);
    const NoAutocast inside(x.device().kind);
    const double eps = asked_eps.value_or(x.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23);
    std::int64_t rows = 1;
    for (int i = 0; i < x.rank() - normalized_shape.rank(); ++i) rows *= x.size(i);
    return row_norm(info, x, widened(weight), widened(bias),
                    {rows, normalized_shape.numel(), eps, rms}, x.dtype());
}

}  // namespace

Tensor layer_norm(const Tensor& x0, const Shape& normalized_shape, const Tensor& weight0,
                  const Tensor& bias0, double eps) {
    return layer_norm_op.call(
        x0, normalized_shape, weight0, bias0, eps,
        [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
            return normalized(layer_norm_op, x, weight, bias, normalized_shape, eps, false).y;
        });
}

TensorList native_layer_norm(const Tensor& x0, const Shape& normalized_shape, const Tensor& weight0,
                             const Tensor& bias0, double eps) {
    return native_layer_norm_op.call(
        x0, normalized_shape, weight0, bias0, eps,
        [&](const Tensor& x, const Tensor& weight, const Tensor& bias) -> TensorList {
            const RowNorm made =
                normalized(native_layer_norm_op, x, weight, bias, normalized_shape, eps, false);
            Shape shape = x.shape();
            for (int i = x.rank() - normalized_shape.rank(); i < x.rank(); ++i) shape[i] = 1;
            const auto shaped = [&](const Tensor& t) {
                t.impl()->shape = shape;
                t.impl()->strides = contiguous_strides(shape);
                return t;
            };
            return {made.y, shaped(made.mean.detach()), shaped(made.rstd.detach())};
        });
}

Tensor rms_norm(const Tensor& x0, const Shape& normalized_shape, const Tensor& weight0,
                std::optional<double> eps) {
    return rms_norm_op.call(
        x0, normalized_shape, weight0, eps, [&](const Tensor& x, const Tensor& weight) {
            return normalized(rms_norm_op, x, weight, {}, normalized_shape, eps, true).y;
        });
}

namespace {

using kernels::LayerNormShape;

constexpr Op add_layer_norm_op("add_layer_norm(x, around, weight, bias; eps)",
                               "A residual sum and its layer norm as one node of the tape.");

bool is_whole(const Tensor& x, const Shape& shape, const Device& device) {
    return x.device() == device && x.shape() == shape && x.is_contiguous();
}

/// The sum has the type of `around`.
bool types_fit(const Tensor& x, const Tensor& around) {
    const DType type = around.dtype();
    if (type == DType::f32) return x.dtype() == type || is_low(x.dtype());
    return is_low(type) && x.dtype() == type && !autocast_enabled(around.device().kind);
}

bool parameter_fits(const Tensor& parameter, const Tensor& around) {
    return parameter.defined() && is_whole(parameter, {around.shape().back()}, around.device()) &&
           (parameter.dtype() == DType::f32 || parameter.dtype() == around.dtype());
}

/// Sizes that the gradient needs beside the saved tensors.
struct Sizes {
    LayerNormShape rows;
    Shape shape;
    DType x;
};

/// Differentiable: by the single ops.
TensorList recorded_gradients(const RowNormBackward& norm, const Tensor& beside) {
    TensorList found = row_norm_backward(norm);
    found.resize(3);
    const Tensor dsum = beside.defined() ? add(beside, found[0]) : found[0];
    return {dsum, dsum, found[1], found[2]};
}

TensorList computed_gradients(const RowNormBackward& norm, const Tensor& beside, const Sizes& of,
                              bool needs_x) {
    const DType type = norm.x.dtype();
    const Device device = norm.x.device();
    const auto room = [&device](bool there, const Shape& shape, DType dtype) {
        return there ? Tensor::empty(shape, dtype, device) : Tensor();
    };
    const auto array = [](const Tensor& t) {
        return t.defined() ? t.array() : kernels::Array{nullptr, DType::f32, 0};
    };
    const Tensor dsum = room(true, of.shape, type);
    const Tensor dx = room(needs_x && of.x != type, of.shape, of.x);
    const Tensor dweight = room(norm.parameters, norm.parameter_shape, DType::f32);
    const Tensor dbias = room(norm.parameters, norm.parameter_shape, DType::f32);
    const Tensor dy = in_layout(norm.dy, Layout::contiguous);
    const Tensor other = beside.defined() ? in_layout(beside, Layout::contiguous) : beside;
    on(device, kernels::cpu::add_layer_norm_backward, kernels::cuda::add_layer_norm_backward)(
        {array(dsum), array(dx), array(dweight), array(dbias)}, array(other), dy.array(),
        norm.x.array(), array(norm.weight), norm.mean.array(), norm.rstd.array(), of.rows,
        current_stream());
    return {dx.defined() ? dx : dsum, dsum, dweight, dbias};
}

TensorList gradients(std::span<const Tensor> grads, const Saved& saved, const Sizes& of) {
    const Tensor beside = grads[0], dy = grads[1];
    if (!dy.defined()) return {beside, beside, Tensor(), Tensor()};
    const RowNormBackward norm{.dy = dy,
                               .x = saved[0],
                               .weight = saved[1],
                               .mean = saved[2],
                               .rstd = saved[3],
                               .shape = of.rows,
                               .parameters = saved.needs_gradient(2) || saved.needs_gradient(3),
                               .parameter_shape = {of.rows.cols}};
    if (grad_enabled()) return recorded_gradients(norm, beside);
    return computed_gradients(norm, beside, of, saved.needs_gradient(0));
}

}  // namespace

bool can_fuse_add_layer_norm(const Tensor& x, const Tensor& around, const Tensor& weight,
                             const Tensor& bias) {
    if (types_are_forced() || around.rank() == 0) return false;
    // Else the sum of the two ops would be no part of the graph.
    if (grad_enabled() && !x.requires_grad() && !around.requires_grad()) return false;
    return is_whole(x, around.shape(), around.device()) && around.is_contiguous() &&
           types_fit(x, around) && parameter_fits(weight, around) && parameter_fits(bias, around);
}

SumAndNorm add_layer_norm(const Tensor& x, const Tensor& around, const Tensor& weight0,
                          const Tensor& bias0, double eps) {
    const Device device = around.device();
    const NoAutocast inside(device.kind);
    const Tensor weight = widened(weight0), bias = widened(bias0);
    const std::int64_t cols = around.shape().back();
    const std::int64_t rows = cols > 0 ? around.numel() / cols : 0;
    const Sizes of{{rows, cols, eps}, around.shape(), x.dtype()};
    const Tensor sum = empty_like(around), normed = empty_like(around);
    const Tensor mean = Tensor::empty({rows}, DType::f32, device);
    const Tensor rstd = Tensor::empty({rows}, DType::f32, device);
    on(device, kernels::cpu::add_layer_norm_forward, kernels::cuda::add_layer_norm_forward)(
        sum.array(), normed.array(), mean.array(), rstd.array(), x.array(), around.array(),
        weight.array(), bias.array(), of.rows, current_stream());
    const Tensor inputs[] = {x, around, weight, bias};
    const TensorList made = record_outputs(add_layer_norm_op, inputs, {sum, normed},
                                           {save_output(sum), save(weight), save(mean), save(rstd)},
                                           [of](std::span<const Tensor> grads, const Saved& saved) {
                                               return gradients(grads, saved, of);
                                           });
    return {made[0], made[1]};
}

}  // namespace engine
