#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo cast_info;

/// x in another type, rounded to nearest even (once, also from f64 to 16 bits). The gradient is
/// cast back. Returns x itself if it has that type, and a parameter's 16-bit copy
/// (decisions.md#low-precision-weights, D6) instead of a new cast if its optimizer keeps one.
Tensor to(const Tensor& x, DType dtype);

/// x on another device, recorded: the gradient is copied back to x's device. x itself if it is
/// there already. Waits for the copy.
Tensor to(const Tensor& x, const Device& device);

}  // namespace engine
