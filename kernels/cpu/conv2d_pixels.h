#pragma once

#include "cpu/dnnl_ops.h"
#include "kernels/conv2d.h"

/// f32 convolutions of images of a few pixels with many channels: each output pixel by itself, as a
/// product whose rows are the images. The taps of its window that lie in the padding are left out:
/// of 4 x 4 pixels under a 3 x 3 window 44 of 144. (A convolution that takes neighbouring pixels as
/// rows has to multiply by their zeros, or to load all weights for each row of pixels.)
namespace kernels::cpu {

/// Whether this is faster than oneDNN.
bool pixels_are_faster(ConvDirection direction, const Conv2dShape& shape);

/// y = x * w + bias; the bias may be null. Needs pixels_are_faster().
void conv2d_forward_pixels(float* y, const float* x, const float* w, const float* bias,
                           const Conv2dShape& shape);
void conv2d_data_gradient_pixels(float* dx, const float* dy, const float* w,
                                 const Conv2dShape& shape);
void conv2d_weight_gradient_pixels(float* dw, const float* dy, const float* x,
                                   const Conv2dShape& shape);

}  // namespace kernels::cpu
