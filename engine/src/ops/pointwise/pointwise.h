#pragma once

#include <functional>

#include "kernels/elementwise.h"
#include "tensor/tape.h"

// Common parts of the ops on single elements: one node of the tape that keeps x alone, and a value
// and a gradient that are rounded once each.
namespace engine {

/// Reason of an op of one tensor that autocast leaves alone.
inline constexpr const char* no_entry = "Not on the autocast list: runs in its input's type.";

/// A function of a tensor in its wide type (tensor/cast.h), written in ops.
using WideFunction = std::function<Tensor(const Tensor&)>;

/// f of each element, outside the tape and without casts. Floating x, any for neg and abs, else
/// Error(dtype).
Tensor unary_kernel(const OpInfo& info, const Tensor& x, kernels::UnaryOp f);
/// The gradient of a function of one tensor by a fused kernel, outside the tape: dy and y (or x, as
/// the op says) of one shape; in dy's type.
Tensor gradient_kernel(const Tensor& dy, const Tensor& y, kernels::BinaryOp op);
/// The number as a 0-d tensor of w's type.
Tensor constant(const Tensor& w, double value);
/// f of the widened x, rounded to x's type, with the derivative `slope`. f runs outside the tape,
/// slope on it, so that it gives the second derivative. Casts x by the policy first. Floating x,
/// else Error(dtype).
Tensor pointwise(const OpInfo& info, const Tensor& x, const WideFunction& f, WideFunction slope);
/// pointwise() for an f that is a kernel of its own.
Tensor pointwise(const OpInfo& info, const Tensor& x, kernels::UnaryOp f, WideFunction slope);
/// A function that is flat wherever it has a derivative: its gradient is zero, as PyTorch has it.
Tensor pointwise_flat(const OpInfo& info, const Tensor& x, kernels::UnaryOp f);

/// Runner of an op of one tensor.
template <Tensor (*op)(const Tensor&)>
TensorList run_unary(const OpArguments& args) {
    return {op(args.at(0))};
}

// sigmoid and tanh for the slopes of other ops, of a tensor in its wide type. Their derivatives are
// computed from x: computed from y, y (1 - y) and 1 - y^2 cancel where |y| is near 1.
Tensor stable_sigmoid(const Tensor& w);
Tensor stable_tanh(const Tensor& w);
/// 1 - tanh(w)^2
Tensor tanh_slope(const Tensor& w);

}  // namespace engine
