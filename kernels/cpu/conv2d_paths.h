#pragma once

#include "cpu/dnnl_ops.h"
#include "kernels/conv2d.h"

// Our own ways to compute a convolution. conv2d.cpp chooses among them and oneDNN, by shape and
// type.
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

// f32 convolutions of images of a few pixels with many channels: each output pixel by itself, as a
// product whose rows are the images. The taps of its window that lie in the padding are left out:
// of 4 x 4 pixels under a 3 x 3 window 44 of 144. (A convolution that takes neighbouring pixels as
// rows has to multiply by their zeros, or to load all weights for each row of pixels.)

/// Whether this is faster than oneDNN.
bool pixels_are_faster(ConvDirection direction, const Conv2dShape& shape);

/// y = x * w + bias; the bias may be null. Needs pixels_are_faster().
void conv2d_forward_pixels(float* y, const float* x, const float* w, const float* bias,
                           const Conv2dShape& shape);
void conv2d_data_gradient_pixels(float* dx, const float* dy, const float* w,
                                 const Conv2dShape& shape);
void conv2d_weight_gradient_pixels(float* dw, const float* dy, const float* x,
                                   const Conv2dShape& shape);

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

/// Implements conv2d_data_gradient for every dtype and shape: each pixel of dy times the weights is
/// a window of dx, added in f32 (f64 for f64) to its place. Unlike the correlation of
/// the tiles it supports strides, and fills its vectors with taps if dx has few channels; but
/// every window passes through the cache once more.
void conv2d_data_gradient_scattered(Array dx, ConstArray dy, ConstArray w,
                                    const Conv2dShape& shape);

}  // namespace kernels::cpu
