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
    /// Of w and dw. cuDNN takes no other order; the CPU copies them to PyTorch's.
    bool channels_last_weights = false;
    bool operator==(const Conv2dShape&) const = default;

    std::int64_t oh() const { return (h + 2 * pad_h - dilation_h * (r - 1) - 1) / stride_h + 1; }
    std::int64_t ow() const { return (w + 2 * pad_w - dilation_w * (s - 1) - 1) / stride_w + 1; }
};

/// y = x * w + bias (bias may have data == nullptr). All of one dtype: f64, f32, f16, bf16; sums in
/// f32 (f64 for f64), one rounding at the store. Cross-correlation, as in every framework. bf16
/// subnormals as in `gemm`.
using Conv2dForward = void(Array y, ConstArray x, ConstArray w, ConstArray bias,
                           const Conv2dShape& shape, Stream stream);
HALFTONE_KERNEL(Conv2dForward, conv2d_forward);
/// dx from dy and w. Same rules.
using Conv2dDataGradient = void(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape,
                                Stream stream);
HALFTONE_KERNEL(Conv2dDataGradient, conv2d_data_gradient);
/// dw (w's layout) and, if dbias.data, dbias = sum of dy over N, OH, OW. Same rules.
using Conv2dWeightGradient = void(Array dw, Array dbias, ConstArray dy, ConstArray x,
                                  const Conv2dShape& shape, Stream stream);
HALFTONE_KERNEL(Conv2dWeightGradient, conv2d_weight_gradient);

namespace cpu {
/// The implementation that the forward pass of this shape uses: "jit:avx512_core", "columns", ...;
/// for tests and `doctor`.
const char* conv2d_route(DType dtype, const Conv2dShape& shape);
}  // namespace cpu

}  // namespace kernels
