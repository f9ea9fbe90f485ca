#pragma once

#include "core/tape.h"

namespace engine {

extern const OpInfo cast_info;

/// x in another type, rounded to nearest even (from f64 to 16 bits once); the gradient is cast
/// back. x itself if it has that type. A parameter's 16-bit copy that its optimizer keeps (D6) is
/// handed out instead of being made again.
Tensor to(const Tensor& x, DType dtype);

/// x on another device, recorded: the gradient comes back to x's device. x itself if it is there
/// already. Waits for the copy.
Tensor to(const Tensor& x, const Device& device);

}  // namespace engine
