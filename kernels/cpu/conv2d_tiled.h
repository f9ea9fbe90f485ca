#pragma once

#include "kernels/conv2d.h"

namespace kernels::cpu {

/// Implements the three convolution kernels by our own tiles, for every dtype and shape. A band of
/// the input is copied into scratch with its padding, in the computing type (f32; f64 for f64), and
/// the tiles read its windows there: no column matrix is built. A sum of the forward pass or the
/// data gradient runs over all its terms in one register; a weight gradient sums each band in f32
/// and adds the bands in f32. One rounding at the store, subnormals kept. Used for few channels,
/// for f64, and for all shapes that a library would compute by reference code.
void conv2d_forward_tiled(Array y, ConstArray x, ConstArray w, ConstArray bias,
                          const Conv2dShape& shape);
/// Only for strides of 1.
void conv2d_data_gradient_tiled(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape);
void conv2d_weight_gradient_tiled(Array dw, ConstArray dy, ConstArray x, const Conv2dShape& shape);

/// dbias[k] = sum of dy (rows, k) over its rows, summed in f32 (f64 for f64), rounded once.
void conv2d_bias_gradient(Array dbias, ConstArray dy);

}  // namespace kernels::cpu
