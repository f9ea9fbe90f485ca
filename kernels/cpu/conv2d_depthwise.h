#pragma once

#include "kernels/conv2d.h"

namespace kernels::cpu {

/// Whether each input channel makes one output channel by a filter of its own.
bool is_depthwise(const Conv2dShape& shape);

/// The three convolution kernels for depthwise shapes in f32, f16 and bf16. Channels fill the
/// vectors, and 16-bit elements are widened on their way into a register, so no tensor is converted
/// whole. Sums run in f32 over the taps that meet the image, with one rounding at the store; a
/// weight gradient sums rows first, then images, in an order that the shape alone decides.
void conv2d_forward_depthwise(Array y, ConstArray x, ConstArray w, ConstArray bias,
                              const Conv2dShape& shape);
void conv2d_data_gradient_depthwise(Array dx, ConstArray dy, ConstArray w,
                                    const Conv2dShape& shape);
void conv2d_weight_gradient_depthwise(Array dw, ConstArray dy, ConstArray x,
                                      const Conv2dShape& shape);

}  // namespace kernels::cpu
