#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// x (N, H, W, C) and y (N, OH, OW, K) dense NHWC; w (K, C / groups, R, S) dense in that order
/// (PyTorch's), or (K, R, S, C / groups) in memory with `channels_last_weights`; bias (K).
struct Conv2dShape {
    std::int64_t n, c, h, w;  ///< input
    std::int64_t k, r, s;     ///< output channels, kernel height and width
    std::int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
    std::int64_t groups = 1;
    /// Order of w and dw in memory. cuDNN takes no other order; the CPU copies them to PyTorch's.
    bool channels_last_weights = false;
    /// Values from one pixel of x to the next where zeros follow the channels; 0: C. On a GPU
    /// alone, of the forward pass and the weight gradient.
    std::int64_t x_pitch = 0;
    bool operator==(const Conv2dShape&) const = default;

    std::int64_t oh() const { return (h + 2 * pad_h - dilation_h * (r - 1) - 1) / stride_h + 1; }
    std::int64_t ow() const { return (w + 2 * pad_w - dilation_w * (s - 1) - 1) / stride_w + 1; }
};

/// The values of a pixel of x as cuDNN is given them: an odd number of 16-bit channels is filled up
/// to 8 with zeros, that is 16 bytes, unless the pixels lie so already (x_pitch). With three
/// channels cuDNN pads on its own in each weight gradient, as the scratch tells that it asks for
/// (57.5 MB in place of 6.1 for 64 images of 224 x 224 on an H100), and has no wide sums
/// (CudnnWideSums).
constexpr std::int64_t padded_channels(DType dtype, std::int64_t channels) {
    const bool is_low = dtype == DType::f16 || dtype == DType::bf16;
    return is_low && channels > 1 && channels < 8 && channels % 2 == 1 ? 8 : channels;
}

/// y = x * w + bias (bias may have data == nullptr). All of one dtype: f64, f32, f16, bf16; sums in
/// f32 (f64 for f64), one rounding at the store. Cross-correlation, as in every framework. bf16
/// subnormals as in `gemm`. An infinity or NaN reaches its own sums alone. Whether a padding zero is
/// a factor is up to the implementation, so a sum in which it meets an infinity may be NaN.
using Conv2dForward = void(Array y, ConstArray x, ConstArray w, ConstArray bias,
                           const Conv2dShape& shape, Stream stream);
HALFTONE_KERNEL(Conv2dForward, conv2d_forward);
/// dx from dy and w. Same rules; no sum has a term of the padding.
using Conv2dDataGradient = void(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape,
                                Stream stream);
HALFTONE_KERNEL(Conv2dDataGradient, conv2d_data_gradient);
/// dw (w's layout) and, if dbias.data, dbias = sum of dy over N, OH, OW. Same rules.
using Conv2dWeightGradient = void(Array dw, Array dbias, ConstArray dy, ConstArray x,
                                  const Conv2dShape& shape, Stream stream);
HALFTONE_KERNEL(Conv2dWeightGradient, conv2d_weight_gradient);

namespace cpu {
/// The implementation that the forward pass of this shape uses: "jit:avx512_core", "pixels", ...;
/// for tests and `doctor`.
const char* conv2d_route(DType dtype, const Conv2dShape& shape);
}  // namespace cpu

}  // namespace kernels
