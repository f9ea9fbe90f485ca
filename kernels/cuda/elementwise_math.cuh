#pragma once

#include "kernels/elementwise.h"

namespace kernels::cuda {

/// The functions of `unary` that are more than a few instructions; y is not empty.
Unary unary_math;

}  // namespace kernels::cuda
