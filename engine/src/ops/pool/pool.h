#pragma once

#include <array>
#include <optional>

#include "ops/pool/pool_parts.h"

namespace engine {

/// One number for all dimensions of space or one for each.
struct PoolOptions {
    std::vector<std::int64_t> kernel{2};
    std::vector<std::int64_t> stride = {};              ///< the kernel's size if empty
    std::vector<std::int64_t> padding{0}, dilation{1};  ///< at most half the kernel; max only
    bool count_include_pad = true;                      ///< averages only
    bool ceil_mode =
        false;  ///< a last window may hang over the far edge; what is beyond it counts not
    std::optional<std::int64_t> divisor_override = {};  ///< averages only: in place of the count

    void read(auto& from) {
        from("kernel_size", kernel)("stride", stride)("padding", padding)("dilation", dilation);
        from("count_include_pad", count_include_pad)("ceil_mode", ceil_mode);
        from("divisor_override", divisor_override);
    }
};
template <std::size_t dims>
using PoolSize = std::array<std::int64_t, dims>;

// Pools of sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W), the batch
// dimension may be missing. Results are of x's type, images in NHWC memory: each value and each
// gradient is rounded once.

/// Values and, of their shape, where each came from, i64: in its sequence l, its plane h W + w or
/// its volume (d H + h) W + w. Undefined where they are not asked for.
struct WithIndices {
    Tensor values, indices;
};

/// Largest of each window, the first of equal ones; a NaN counts as largest, padding never wins.
WithIndices max_pool1d(const Tensor& x, const PoolOptions& options, bool indices = false);
Tensor max_pool2d(const Tensor& x, const PoolOptions& options);
WithIndices max_pool2d_with_indices(const Tensor& x, const PoolOptions& options,
                                    bool indices = true);
WithIndices max_pool3d(const Tensor& x, const PoolOptions& options, bool indices = false);
inline constexpr Op max_pool1d_op(CastPolicy::none,
                                  "max_pool1d(x; kernel_size=2, stride=None, padding=0, "
                                  "dilation=1, ceil_mode=False, return_indices=False)",
                                  chooses, by_name<max_pool1d>);
inline constexpr Op max_pool2d_op(CastPolicy::none,
                                  "max_pool2d(x; kernel_size=2, stride=None, padding=0, "
                                  "dilation=1, ceil_mode=False, return_indices=False)",
                                  chooses, by_name<max_pool2d_with_indices>);
inline constexpr Op max_pool3d_op(CastPolicy::none,
                                  "max_pool3d(x; kernel_size=2, stride=None, padding=0, "
                                  "dilation=1, ceil_mode=False, return_indices=False)",
                                  chooses, by_name<max_pool3d>);

/// Largest of windows that are chosen so that the result has this size.
WithIndices adaptive_max_pool1d(const Tensor& x, const PoolSize<1>& size, bool indices = false);
WithIndices adaptive_max_pool2d(const Tensor& x, const PoolSize<2>& size, bool indices = true);
WithIndices adaptive_max_pool3d(const Tensor& x, const PoolSize<3>& size, bool indices = false);
inline constexpr Op adaptive_max_pool1d_op(
    CastPolicy::none, "adaptive_max_pool1d(x; output_size=1, return_indices=False)", chooses,
    by_name<adaptive_max_pool1d>);
inline constexpr Op adaptive_max_pool2d_op(
    CastPolicy::none, "adaptive_max_pool2d(x; output_size=1, return_indices=False)", chooses,
    by_name<adaptive_max_pool2d>);
inline constexpr Op adaptive_max_pool3d_op(
    CastPolicy::none, "adaptive_max_pool3d(x; output_size=1, return_indices=False)", chooses,
    by_name<adaptive_max_pool3d>);

/// Mean of each window, summed in f32 (f64 for f64).
Tensor avg_pool1d(const Tensor& x, const PoolOptions& options);
Tensor avg_pool2d(const Tensor& x, const PoolOptions& options);
Tensor avg_pool3d(const Tensor& x, const PoolOptions& options);
inline constexpr Op avg_pool1d_op(
    CastPolicy::none,
    "avg_pool1d(x; kernel_size=2, stride=None, padding=0, ceil_mode=False, count_include_pad=True)",
    adds, by_name<avg_pool1d>);
inline constexpr Op avg_pool2d_op(CastPolicy::none,
                                  "avg_pool2d(x; kernel_size=2, stride=None, padding=0, "
                                  "ceil_mode=False, count_include_pad=True, divisor_override=None)",
                                  adds, by_name<avg_pool2d>);
inline constexpr Op avg_pool3d_op(CastPolicy::none,
                                  "avg_pool3d(x; kernel_size=2, stride=None, padding=0, "
                                  "ceil_mode=False, count_include_pad=True, divisor_override=None)",
                                  adds, by_name<avg_pool3d>);

/// Mean of the windows of adaptive_max_pool.
Tensor adaptive_avg_pool1d(const Tensor& x, const PoolSize<1>& size);
Tensor adaptive_avg_pool2d(const Tensor& x, const PoolSize<2>& size);
Tensor adaptive_avg_pool3d(const Tensor& x, const PoolSize<3>& size);
inline constexpr Op adaptive_avg_pool1d_op(CastPolicy::none,
                                           "adaptive_avg_pool1d(x; output_size=1)", adds,
                                           by_name<adaptive_avg_pool1d>);
inline constexpr Op adaptive_avg_pool2d_op(CastPolicy::none,
                                           "adaptive_avg_pool2d(x; output_size=1)", adds,
                                           by_name<adaptive_avg_pool2d>);
inline constexpr Op adaptive_avg_pool3d_op(CastPolicy::none,
                                           "adaptive_avg_pool3d(x; output_size=1)", adds,
                                           by_name<adaptive_avg_pool3d>);

inline constexpr const char* of_powers =
    "Not on the list itself, but built of pow, which is: so fp32 under autocast.";

// (sum of x^p over each window)^(1/p), p > 0. Only the options kernel, stride and ceil_mode are
// used; a window that overlaps the edge counts as full. No autocast entry, but it is composed of
// pow, which has one: in a region the result is f32. Otherwise x's type, rounded once. The gradient
// of a window whose sum is 0 is 0.

Tensor lp_pool1d(const Tensor& x, double p, const PoolOptions& options);
inline constexpr Op lp_pool1d_op(
    CastPolicy::none, "lp_pool1d(x; norm_type=2, kernel_size=2, stride=None, ceil_mode=False)",
    of_powers, by_name<lp_pool1d>);
Tensor lp_pool2d(const Tensor& x, double p, const PoolOptions& options);
inline constexpr Op lp_pool2d_op(
    CastPolicy::none, "lp_pool2d(x; norm_type=2, kernel_size=2, stride=None, ceil_mode=False)",
    of_powers, by_name<lp_pool2d>);
Tensor lp_pool3d(const Tensor& x, double p, const PoolOptions& options);
inline constexpr Op lp_pool3d_op(
    CastPolicy::none, "lp_pool3d(x; norm_type=2, kernel_size=2, stride=None, ceil_mode=False)",
    of_powers, by_name<lp_pool3d>);

/// Maximum over windows of size `kernel`, whose places follow from samples in [0, 1) (Graham,
/// "Fractional Max-Pooling"). x (N, C, H, W) or (C, H, W); samples (N, C, 2) or (C, 2) of x's type,
/// for columns and rows, without a gradient. Window i of n starts at floor((i + sample) a) -
/// floor(sample a), a = (in - kernel) / (n - 1); the last one ends at the edge. Indices as in
/// max_pool2d.
WithIndices fractional_max_pool2d(const Tensor& x, const Tensor& samples,
                                  const std::array<std::int64_t, 2>& kernel,
                                  const std::array<std::int64_t, 2>& size, bool indices = false);
inline constexpr Op fractional_max_pool2d_op(
    CastPolicy::none,
    "fractional_max_pool2d(x, samples; kernel_size=2, output_size=2, return_indices=False)",
    chooses, by_name<fractional_max_pool2d>);

}  // namespace engine
