#pragma once

#include "tensor/tape.h"

namespace engine {

/// x in another type, rounded to nearest even (once, also from f64 to 16 bits). The gradient is
/// cast back. Returns x itself if it has that type, and a parameter's 16-bit copy
/// (decisions.md#low-precision-weights, D6) instead of a new cast if its optimizer keeps one.
Tensor to(const Tensor& x, DType dtype);
inline constexpr Op cast_op(
    CastPolicy::none, "to(x; dtype='f32')",
    "A cast uses the given type; its gradient is cast back to the type of x.",
    by_name_as<Tensor(const Tensor&, DType), to>, not_forced);

/// x on another device, recorded: the gradient is copied back to x's device. x itself if it is
/// there already. Waits for the copy.
Tensor to(const Tensor& x, const Device& device);

/// Type in which an op on `dtype` computes: f32 for 16 bits, else the type itself.
inline DType wide_type(DType dtype) { return is_low(dtype) ? DType::f32 : dtype; }
/// x in wide_type(x.dtype()); undefined stays undefined. A composite op widens its operands,
/// computes in ops and casts the result back once. So its value and its gradient are rounded once
/// each, as in a single kernel.
inline Tensor widened(const Tensor& x) { return x.defined() ? to(x, wide_type(x.dtype())) : x; }

/// x, defined, in wide_type(type), where type is the common type of the operands: beside an f64
/// operand, f32 would lose digits.
inline Tensor widened(const Tensor& x, DType type) { return to(x, wide_type(type)); }

}  // namespace engine
