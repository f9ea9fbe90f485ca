#pragma once

#include "kernels/conv2d.h"

/// Convolutions by plain loops, for what the library has no engine for (f64 gradients, for one).
/// Weights as in kernels/conv2d.h; sums in f32 (f64 for f64), one rounding at the store.
namespace kernels::cuda {

void conv2d_forward_direct(Array y, ConstArray x, ConstArray w, ConstArray bias,
                           const Conv2dShape& shape, Stream stream);
void conv2d_data_gradient_direct(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape,
                                 Stream stream);
void conv2d_weight_gradient_direct(Array dw, ConstArray dy, ConstArray x, const Conv2dShape& shape,
                                   Stream stream);

}  // namespace kernels::cuda
