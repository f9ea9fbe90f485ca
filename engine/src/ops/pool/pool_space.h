#pragma once

#include <array>
#include <optional>

#include "ops/pool/pool.h"
#include "tensor/tape.h"

namespace engine {

extern const OpInfo max_pool1d_info, max_pool3d_info, avg_pool1d_info, avg_pool3d_info,
    adaptive_avg_pool1d_info, adaptive_avg_pool3d_info, adaptive_max_pool1d_info,
    adaptive_max_pool3d_info;

// Pools of sequences (N, C, L) and volumes (N, C, D, H, W), the batch dimension may be missing.
// Results are of x's type: each value and each gradient is rounded once.

/// One number for all dimensions of space or one for each.
struct PoolOptions {
    std::vector<std::int64_t> kernel{2};
    std::vector<std::int64_t> stride = {};              // the kernel's size if empty
    std::vector<std::int64_t> padding{0}, dilation{1};  // dilation: max only
    bool count_include_pad = true;                      // averages only
    bool ceil_mode = false;
    std::optional<std::int64_t> divisor_override = {};  // avg_pool3d only
};

/// Largest of each window as in max_pool2d. Indices, if asked for: where in its sequence l or its
/// volume (d H + h) W + w each came from, i64.
WithIndices max_pool1d(const Tensor& x, const PoolOptions& options, bool indices = false);
WithIndices max_pool3d(const Tensor& x, const PoolOptions& options, bool indices = false);
WithIndices adaptive_max_pool1d(const Tensor& x, std::int64_t size, bool indices = false);
WithIndices adaptive_max_pool3d(const Tensor& x, const std::array<std::int64_t, 3>& size,
                                bool indices = false);

/// Mean of each window, summed in f32 (f64 for f64).
Tensor avg_pool1d(const Tensor& x, const PoolOptions& options);
Tensor avg_pool3d(const Tensor& x, const PoolOptions& options);
Tensor adaptive_avg_pool1d(const Tensor& x, std::int64_t size);
Tensor adaptive_avg_pool3d(const Tensor& x, const std::array<std::int64_t, 3>& size);

}  // namespace engine
