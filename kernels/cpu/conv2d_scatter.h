#pragma once

#include "kernels/conv2d.h"

namespace kernels::cpu {

/// Implements conv2d_data_gradient for every dtype and shape: each pixel of dy times the weights is
/// a window of dx, added in f32 (f64 for f64) to its place. Unlike the correlation of
/// conv2d_tiled.h it supports strides, and fills its vectors with taps if dx has few channels; but
/// every window passes through the cache once more.
void conv2d_data_gradient_scattered(Array dx, ConstArray dy, ConstArray w,
                                    const Conv2dShape& shape);

}  // namespace kernels::cpu
