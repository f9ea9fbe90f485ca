#pragma once

#include <array>
#include <optional>

#include "tensor/tape.h"

namespace engine {

extern const OpInfo max_pool2d_info, avg_pool2d_info, adaptive_avg_pool2d_info,
    adaptive_max_pool2d_info;

struct Pool2dOptions {
    std::array<std::int64_t, 2> kernel{2, 2};                // height, width
    std::optional<std::array<std::int64_t, 2>> stride = {};  // the kernel's size if not given
    std::array<std::int64_t, 2> padding{0, 0};               // at most half the kernel
    std::array<std::int64_t, 2> dilation{1, 1};              // max_pool2d only
    bool count_include_pad = true;                           // avg_pool2d only
    bool ceil_mode =
        false;  // a last window may hang over the far edge; what is beyond it counts not
    std::optional<std::int64_t> divisor_override = {};  // avg_pool2d only: in place of the count
};

// x (N, C, H, W) or (C, H, W); the result is in NHWC memory and of x's type.

/// Values and, of their shape, where in its plane each came from: h W + w, i64.
struct WithIndices {
    Tensor values, indices;
};

/// Largest of each window, the first of equal ones; a NaN counts as largest, padding never wins.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
WithIndices max_pool2d_with_indices(const Tensor& x, const Pool2dOptions& options);
/// Mean of each window, summed in f32 (f64 for f64).
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options);
/// Mean over windows chosen so that the result is size (height, width).
Tensor adaptive_avg_pool2d(const Tensor& x, const std::array<std::int64_t, 2>& size);
/// Largest of each of the same windows.
WithIndices adaptive_max_pool2d(const Tensor& x, const std::array<std::int64_t, 2>& size);

extern const OpInfo fractional_max_pool2d_info;

/// Maximum over windows of size `kernel`, whose places follow from samples in [0, 1) (Graham,
/// "Fractional Max-Pooling"). x (N, C, H, W) or (C, H, W); samples (N, C, 2) or (C, 2) of x's type,
/// for columns and rows, without a gradient. Window i of n starts at floor((i + sample) a) -
/// floor(sample a), a = (in - kernel) / (n - 1); the last one ends at the edge. Indices as in
/// max_pool2d.
WithIndices fractional_max_pool2d(const Tensor& x, const Tensor& samples,
                                  const std::array<std::int64_t, 2>& kernel,
                                  const std::array<std::int64_t, 2>& size, bool indices = false);

}  // namespace engine
