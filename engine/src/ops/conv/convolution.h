#pragma once

#include <array>

#include "ops/conv/conv_transpose.h"

namespace engine {

extern const OpInfo conv1d_info, conv2d_info, conv3d_info, conv_tbc_info, convolution_info,
    cudnn_convolution_info, cudnn_convolution_transpose_info;

// Convolutions of sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W); the batch
// dimension may be missing. All of one floating type, sums in f32 (f64 for f64), one rounding of
// each result and of each gradient. Policy low.

struct Conv2dOptions {
    std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};  // height, width
    std::int64_t groups = 1;
};

/// Cross-correlation: x (N, C, H, W), weight (K, C / groups, R, S), bias (K) or undefined ->
/// (N, K, OH, OW) in NHWC memory, OH = (H + 2 padding - dilation (R - 1) - 1) / stride + 1. All of
/// one floating type, sums in f32 (f64 for f64), one rounding at the end.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

/// One number for all dimensions of space or one for each.
struct ConvolutionOptions {
    std::vector<std::int64_t> stride{1}, padding{0}, dilation{1};
    std::int64_t groups = 1;
    /// Instead of `padding`: pads so that the result has the input's size; stride 1 only. An odd
    /// amount goes to the far end.
    bool same = false;
};

/// Cross-correlation: weight (K, C / groups, size..), bias (K) or undefined -> (N, K, out..), out =
/// (in + 2 padding - dilation (size - 1) - 1) / stride + 1.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvolutionOptions& options = {});
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvolutionOptions& options = {});
/// conv1d, conv2d or conv3d by another name: as `info`, for `dims` dimensions of space.
Tensor convolve_space(const OpInfo& info, int dims, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, const ConvolutionOptions& options);

/// A sequence by time, batch, channel: x (T, N, C), weight (size, C, K), bias (K) -> (T + 2 pad -
/// size + 1, N, K).
Tensor conv_tbc(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t pad = 0);

/// The entry below all of these, for batches; as many dimensions of space as x has beyond two.
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, bool transposed,
                   const ConvTransposeOptions& options);
/// Convolution and transposed convolution without a bias, under the names by which PyTorch calls
/// cuDNN. Every device has them. cudnn_convolution ignores output_padding.
Tensor cudnn_convolution(const Tensor& x, const Tensor& weight,
                         const ConvTransposeOptions& options = {});
Tensor cudnn_convolution_transpose(const Tensor& x, const Tensor& weight,
                                   const ConvTransposeOptions& options = {});

}  // namespace engine
