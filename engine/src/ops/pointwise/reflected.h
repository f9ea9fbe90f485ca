#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo rdiv_info, rtruediv_info, rpow_info;

// Operations with a number on the left. They have no entry of their own: `rdiv` uses reciprocal and
// `rpow` uses pow, so both give f32 in a region, where x / 2 stays low
// (autocast.md#operation-lists, 1.9, 1.10).

/// number / x
Tensor div(double number, const Tensor& x);
/// number ** x
Tensor pow(double number, const Tensor& x);

}  // namespace engine
