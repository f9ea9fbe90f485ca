#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// x (N, H, W, C), y (N, OH, OW, C), dense NHWC, one floating dtype.
struct Pool2dShape {
    std::int64_t n, c, h, w, oh, ow;
    std::int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h = 0, pad_w = 0;
    std::int64_t dilation_h = 1, dilation_w = 1;
    bool count_include_pad = true;  ///< average: padded zeros count in the divisor
    bool adaptive = false;     ///< max: windows of the adaptive average; kernel, stride unread
    std::int64_t divisor = 0;  ///< average: if not 0, divides by it instead of by the count
};

/// y = max over the window; index (i32, y's shape) = h * W + w of the first largest. NaN counts as
/// largest; of several NaNs the last wins.
using MaxPool2dForward = void(Array y, Array index, ConstArray x, const Pool2dShape& shape,
                              Stream stream);
HALFTONE_KERNEL(MaxPool2dForward, max_pool2d_forward);
/// dx zeroed, then each dy added at its index; overlapping windows add in f32 and round once.
using MaxPool2dBackward = void(Array dx, ConstArray dy, ConstArray index, const Pool2dShape& shape,
                               Stream stream);
HALFTONE_KERNEL(MaxPool2dBackward, max_pool2d_backward);
/// y[.., c] = x at the indices of a max pool, for its second derivative.
using MaxPool2dGather = void(Array y, ConstArray x, ConstArray index, const Pool2dShape& shape,
                             Stream stream);
HALFTONE_KERNEL(MaxPool2dGather, max_pool2d_gather);
/// y = mean over the window, sums in f32 (f64 for f64), rounded once.
using AvgPool2dForward = void(Array y, ConstArray x, const Pool2dShape& shape, Stream stream);
HALFTONE_KERNEL(AvgPool2dForward, avg_pool2d_forward);
using AvgPool2dBackward = void(Array dx, ConstArray dy, const Pool2dShape& shape, Stream stream);
HALFTONE_KERNEL(AvgPool2dBackward, avg_pool2d_backward);
/// Adaptive average: window of output o is [floor(o H / OH), ceil((o + 1) H / OH)). Only n, c, h,
/// w, oh, ow are read.
using AdaptiveAvgPool2dForward = void(Array y, ConstArray x, const Pool2dShape& shape,
                                      Stream stream);
HALFTONE_KERNEL(AdaptiveAvgPool2dForward, adaptive_avg_pool2d_forward);
using AdaptiveAvgPool2dBackward = void(Array dx, ConstArray dy, const Pool2dShape& shape,
                                       Stream stream);
HALFTONE_KERNEL(AdaptiveAvgPool2dBackward, adaptive_avg_pool2d_backward);

}  // namespace kernels
