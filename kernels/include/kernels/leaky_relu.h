#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// y[i] = b[i] > 0 ? a[i] : a[i] * slope: leaky ReLU where a = b = x, and its gradient where a = dy
/// and b = x. Dense, all of one floating dtype; y may alias either. f16, bf16 and f32 compute in
/// f32, the slope too, and round once; f64 in f64. The CPU's alone: on a GPU the op is made of
/// others.
using LeakyRelu = void(Array y, ConstArray a, ConstArray b, double slope, Stream stream);
namespace cpu {
LeakyRelu leaky_relu;
}

}  // namespace kernels
