#pragma once

#include <functional>

#include "amp/dispatch.h"
#include "kernels/elementwise.h"
#include "tensor/tape.h"

// Common parts of the ops on single elements: a value and a gradient that are rounded once each.
namespace engine {

/// A function of a tensor in its wide type (tensor/cast.h), written in ops.
using WideFunction = std::function<Tensor(const Tensor&)>;

/// f of each element, outside the tape and without casts. Floating x, any for neg and abs, else
/// Error(dtype).
Tensor unary_kernel(const Op& info, const Tensor& x, kernels::UnaryOp f);
/// The gradient of a function of one tensor by a fused kernel, outside the tape: dy and y (or x, as
/// the op says) of one shape; in dy's type.
Tensor gradient_kernel(const Tensor& dy, const Tensor& y, kernels::BinaryOp op);
/// The number as a 0-d tensor of w's type.
Tensor constant(const Tensor& w, double value);

/// The tensor that the gradient of a kernel reads: saved[0] is x or y.
enum class Kept { nothing, x, y };
/// The op on x by a kernel of its own.
Tensor unary(const Op& op, const Tensor& x, kernels::UnaryOp f, Kept kept, const GradFn1& gradient);
/// A function that is flat wherever it has a derivative: its gradient is zero, as PyTorch has it.
Tensor unary_flat(const Op& op, const Tensor& x, kernels::UnaryOp f);

/// f of the widened x, rounded to x's type, with the derivative `slope`; one node, which keeps x.
/// f runs outside the tape, slope on it, so that it gives the second derivative. Floating x, else
/// Error(dtype). For the inside of an op's call.
Tensor pointwise_inside(const Op& op, const Tensor& x, const WideFunction& f,
                        WideFunction slope);
/// pointwise_inside() for an f that is a kernel of its own.
Tensor pointwise_inside(const Op& op, const Tensor& x, kernels::UnaryOp f, WideFunction slope);
/// The op on x, made of ops or by a kernel. The attributes are for observers.
template <typename F, typename... Attributes>
Tensor pointwise(const Op& op, const Tensor& x0, const F& f, const WideFunction& slope,
                 const Attributes&... attributes) {
    return op.call(x0, attributes...,
                   [&](const Tensor& x) { return pointwise_inside(op, x, f, slope); });
}

/// A gradient dy f'(x) by a fused kernel that reads x, or y, beside dy. `bend` is its derivative by
/// that tensor, times ddx.
struct KernelGradient {
    Op op;
    kernels::BinaryOp f;
    Tensor (*bend)(const Tensor& ddx, const Tensor& dy, const Tensor& at);

    /// Recorded; the object must be a constant.
    Tensor operator()(const Tensor& dy, const Tensor& at) const;
};

// sigmoid and tanh for the slopes of other ops, of a tensor in its wide type. Their derivatives are
// computed from x: computed from y, y (1 - y) and 1 - y^2 cancel where |y| is near 1.
Tensor stable_sigmoid(const Tensor& w);
Tensor stable_tanh(const Tensor& w);
/// 1 - tanh(w)^2
Tensor tanh_slope(const Tensor& w);

}  // namespace engine
