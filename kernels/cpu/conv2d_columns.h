#pragma once

#include "cpu/dnnl_ops.h"

namespace kernels::cpu {

/// Whether an f32 forward pass is faster as products of a matrix of windows with the weights than
/// by oneDNN's convolution: for images of a few pixels, of which each one loads all weights anew.
/// (The data gradient is not: 21.3 ms in place of 20.7 for 128 images of 4 x 4, 512 channels.)
bool columns_are_faster(const Conv2dShape& shape);

/// That forward pass. False, with nothing or parts of y written, if oneDNN has no product for the
/// shape, or a weight is not finite: the zeros of the padding would make it NaN, where a
/// convolution leaves padding out.
bool conv2d_forward_columns(const ConvOperands& operands, const Conv2dShape& shape);

}  // namespace kernels::cpu
