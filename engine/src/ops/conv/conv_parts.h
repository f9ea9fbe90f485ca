#pragma once

#include "kernels/conv2d.h"
#include "tensor/tape.h"

namespace engine {

/// A convolution of images, or of volumes as images. The depth taps of an output slice become
/// further channels, so that each result is one sum with one rounding.
struct ConvShape {
    kernels::Conv2dShape plane;  // n, c and k are those of the tensors, without the taps
    bool has_depth = false;      // tensors of rank 5, (N, C, D, H, W)
    std::int64_t depth = 1, depth_out = 1, taps = 1;
    std::int64_t stride_d = 1, pad_d = 0, dilation_d = 1;
};

// The three linear parts that convolutions and their derivatives are made of. Types and shapes are
// checked by the callers. x (N, C, .., H, W), weight (K, C / groups, .., R, S), y (N, K, .., OH,
// OW); images in NHWC memory, volumes in row-major order.

/// The convolution, recorded as `info`; bias (K) or undefined.
Tensor convolve(const Op& info, const Tensor& x, const Tensor& weight, const Tensor& bias,
                const ConvShape& s);
/// The gradient dx of the convolution that made dy, linear in dy and in weight: a transposed
/// convolution, recorded as `info`.
Tensor conv_input_gradient(const Op& info, const Tensor& dy, const Tensor& weight,
                           const ConvShape& s);
/// Computes and returns the input gradient in `type`. dy and weight are saved as they are, so that
/// 16-bit operands of an f32 result do not stay in memory as f32 copies.
Tensor conv_input_gradient(const Op& info, const Tensor& dy, const Tensor& weight,
                           const ConvShape& s, DType type);

// Functions that record nothing on the tape. dw, and db if asked, for images.

Tensor bare_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvShape& s);
Tensor bare_input_gradient(const Tensor& dy, const Tensor& weight, const ConvShape& s);
TensorList bare_weight_gradient(const Tensor& dy, const Tensor& x, const ConvShape& s,
                                bool with_bias);

}  // namespace engine
