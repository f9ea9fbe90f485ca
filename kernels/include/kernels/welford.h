#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

// Statistics of a batch norm whose batch is spread over several processes
// (optimizers.md#synchronised-batch-norm, 4.5). x, dy (rows, channels), channels innermost, f64,
// f32, f16 or bf16; everything by channel is f32 (f64 for f64 x).

/// Mean and biased variance of each channel of the local rows, in one pass (Welford); 0 and 0
/// without rows.
using WelfordLocal = void(Array mean, Array var, ConstArray x, std::int64_t rows,
                          std::int64_t channels, Stream stream);
HALFTONE_KERNEL(WelfordLocal, welford_local);

/// Merges the statistics of all parts: means, vars (parts, channels), counts (parts) i64 values a
/// channel, which may differ; one after the other in f64 (Chan, Golub, LeVeque 1979). Parts without
/// values are ignored. var is biased, M / n; unbiased, M / (n - 1), may have null data.
using WelfordMerge = void(Array mean, Array var, Array unbiased, ConstArray means, ConstArray vars,
                          ConstArray counts, std::int64_t channels, Stream stream);
HALFTONE_KERNEL(WelfordMerge, welford_merge);

/// sum_dy = sum dy, sum_dy_centred = sum dy (x - mean) over the local rows.
using WelfordBackwardSums = void(Array sum_dy, Array sum_dy_centred, ConstArray dy, ConstArray x,
                                 ConstArray mean, std::int64_t rows, std::int64_t channels,
                                 Stream stream);
HALFTONE_KERNEL(WelfordBackwardSums, welford_backward_sums);

}  // namespace kernels
