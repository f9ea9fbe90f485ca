#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

// On CUDA these are our own kernels, which include the addition and ReLU. cuDNN 9.19 has graph
// engines for the same, but only from compute capability 8.0 on, for f32, f16 and bf16 and channels
// that are a multiple of 8 (found by querying it with device properties), so ours are needed in any
// case. Not documented, and to be tested on a card: whether its ReLU keeps NaN (else an overflow
// goes unnoticed), whether mean 100 with deviation 0.01 cancels, and its speed.

namespace kernels {

/// Sizes and factors of a batch norm over x seen as (rows, channels), channels last: rows = N * H *
/// W.
struct BatchNormShape {
    std::int64_t rows, channels;
    double eps = 1e-5;
    double momentum = 0.1;  ///< running = (1 - momentum) * running + momentum * batch
};

/// Training: mean and biased variance over rows, computed in f32 from shifted or two-pass sums (no
/// cancellation for mean 100, deviation 0.01), y = (x - mean) * invstd * weight + bias [+ residual]
/// [then relu]. x, y, residual of one dtype (f64, f32, f16, bf16). weight, bias (channels): f32
/// (f64 with f64 x; also x's 16-bit dtype); either may have data == nullptr (1 and 0). mean, invstd
/// (channels) are written: f32 (f64 for f64). running_mean, running_var of weight's possible
/// dtypes, or data == nullptr; running_var takes the unbiased variance (rows 1: the biased).
/// residual.data may be null. With relu, y >= 0 is the mask for the backward pass.
using BatchNormForwardTrain = void(Array y, Array mean, Array invstd, Array running_mean,
                                   Array running_var, ConstArray x, ConstArray weight,
                                   ConstArray bias, ConstArray residual, bool relu,
                                   const BatchNormShape& shape, Stream stream);
HALFTONE_KERNEL(BatchNormForwardTrain, batch_norm_forward_train);

/// Inference: the same with the running statistics.
using BatchNormForwardInfer = void(Array y, ConstArray x, ConstArray weight, ConstArray bias,
                                   ConstArray running_mean, ConstArray running_var,
                                   ConstArray residual, bool relu, const BatchNormShape& shape,
                                   Stream stream);
HALFTONE_KERNEL(BatchNormForwardInfer, batch_norm_forward_infer);

/// d = dy, or dy + addend rounded to their type; g = relu ? d but 0 where y <= 0 : d. dbias = sum
/// g, dweight = sum g * xhat, xhat = (x - mean) * invstd, dx = weight * invstd * (g - dbias / rows
/// - xhat * dweight / rows); dresidual = g. addend: a second gradient of y, or data null. y.data is
/// read only with relu; dresidual.data may be null; dweight, dbias of weight's dtype, may be null.
/// bias: data null unless y was computed by batch_norm_forward_train on this device, from these
/// operands, without a residual; then the mask may be recomputed instead of read from y, with the
/// same result. With `training` false (running statistics) dx = weight *
/// invstd * g. f16_max (may be null; for f16 alone): takes the magnitudes of d and dx along, as
/// AbsMax would. On the CPU dresidual may be dy's memory, and
/// dx x's unless there is an addend without a dresidual.
using BatchNormBackward = void(Array dx, Array dresidual, Array dweight, Array dbias,
                               float* f16_max, ConstArray dy, ConstArray addend, ConstArray x,
                               ConstArray y, ConstArray weight, ConstArray bias, ConstArray mean,
                               ConstArray invstd, bool relu, bool training,
                               const BatchNormShape& shape, Stream stream);
HALFTONE_KERNEL(BatchNormBackward, batch_norm_backward);

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
