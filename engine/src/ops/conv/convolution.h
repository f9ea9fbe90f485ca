#pragma once

#include <array>

#include "engine/base/error.h"
#include "ops/conv/conv_transpose.h"

namespace engine {

// Convolutions of sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W); the batch
// dimension may be missing. All of one floating type, sums in f32 (f64 for f64), one rounding of
// each result and of each gradient. Policy low.

inline constexpr const char* products_in_disguise =
    "Matrix products in disguise: fast in 16 bits, summed in fp32.";

/// Reads the option padding: numbers, "same" or "valid".
template <typename Padding>
void read_padding(auto& from, Padding& padding, bool& same) {
    const std::string word = from.word("padding");
    if (word.empty()) from("padding", padding);
    if (!word.empty() && word != "same" && word != "valid")
        throw Error(ErrorCode::value, "padding: numbers, \"same\" or \"valid\", not " + word);
    same = word == "same";
}

struct Conv2dOptions {
    std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};  // height, width
    std::int64_t groups = 1;
    bool same = false;  ///< as in ConvolutionOptions

    void read(auto& from) {
        from("stride", stride)("dilation", dilation)("groups", groups);
        read_padding(from, padding, same);
    }
};

/// Cross-correlation: x (N, C, H, W), weight (K, C / groups, R, S), bias (K) or undefined ->
/// (N, K, OH, OW) in NHWC memory, OH = (H + 2 padding - dilation (R - 1) - 1) / stride + 1. All of
/// one floating type, sums in f32 (f64 for f64), one rounding at the end.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});
inline constexpr Op conv2d_op(CastPolicy::low,
                              "conv2d(x, weight, bias?; stride=1, padding=0, dilation=1, groups=1)",
                              products_in_disguise, by_name<conv2d>);

/// One number for all dimensions of space or one for each.
struct ConvolutionOptions {
    std::vector<std::int64_t> stride{1}, padding{0}, dilation{1};
    std::int64_t groups = 1;
    /// Instead of `padding`: pads so that the result has the input's size; stride 1 only. An odd
    /// amount goes to the far end.
    bool same = false;

    void read(auto& from) {
        from("stride", stride)("dilation", dilation)("groups", groups);
        read_padding(from, padding, same);
    }
};

/// Cross-correlation: weight (K, C / groups, size..), bias (K) or undefined -> (N, K, out..), out =
/// (in + 2 padding - dilation (size - 1) - 1) / stride + 1.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvolutionOptions& options = {});
inline constexpr Op conv1d_op(CastPolicy::low,
                              "conv1d(x, weight, bias?; stride=1, padding=0, dilation=1, groups=1)",
                              products_in_disguise, by_name<conv1d>);
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const ConvolutionOptions& options = {});
inline constexpr Op conv3d_op(CastPolicy::low,
                              "conv3d(x, weight, bias?; stride=1, padding=0, dilation=1, groups=1)",
                              products_in_disguise, by_name<conv3d>);

/// A sequence by time, batch, channel: x (T, N, C), weight (size, C, K), bias (K) -> (T + 2 pad -
/// size + 1, N, K).
Tensor conv_tbc(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t pad = 0);
inline constexpr Op conv_tbc_op(CastPolicy::low, "conv_tbc(x, weight, bias; pad=0)",
                                products_in_disguise, by_name<conv_tbc>);

/// The entry below all of these, for batches; as many dimensions of space as x has beyond two.
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvTransposeOptions& options, bool transposed = false);
inline constexpr Op convolution_op(CastPolicy::low,
                                   "convolution(x, weight, bias?; stride=1, padding=0, dilation=1, "
                                   "transposed=False, output_padding=0, groups=1)",
                                   products_in_disguise, by_name<convolution>);
/// Convolution and transposed convolution without a bias, under the names by which PyTorch calls
/// cuDNN. Every device has them. cudnn_convolution ignores output_padding.
Tensor cudnn_convolution(const Tensor& x, const Tensor& weight,
                         const ConvTransposeOptions& options = {});
inline constexpr Op cudnn_convolution_op(
    CastPolicy::low, "cudnn_convolution(x, weight; padding=0, stride=1, dilation=1, groups=1)",
    "cuDNN's convolution, called directly: products in 16 bits, summed in fp32.",
    by_name<cudnn_convolution>);
Tensor cudnn_convolution_transpose(const Tensor& x, const Tensor& weight,
                                   const ConvTransposeOptions& options = {});
inline constexpr Op cudnn_convolution_transpose_op(
    CastPolicy::low,
    "cudnn_convolution_transpose(x, weight; padding=0, output_padding=0, stride=1, dilation=1, "
    "groups=1)",
    "cuDNN's gradient of a convolution, used forward: products in 16 bits, summed in fp32.",
    by_name<cudnn_convolution_transpose>);

}  // namespace engine
