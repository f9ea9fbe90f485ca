#pragma once

#include "kernels/array.h"
#include "kernels/deferred_error.h"
#include "kernels/kernel.h"

namespace kernels {

enum class SoftmaxForm {
    plain,
    log,     ///< y[r,c] = x[r,c] - max_r - log(sum)
    masked,  ///< a fully masked (all -inf) row yields 0, not NaN
};

/// Row-wise softmax of x (rows, cols) dense: y[r,c] = exp(x[r,c] - max_r) / sum_c exp(x[r,c] -
/// max_r). y of x's dtype or f32 (f64 for f64). Sums and exp in f32 (f64 for f64). Rows with +inf,
/// only -inf (except with `masked`), or NaN give NaN. y may lie over x of its dtype.
using SoftmaxForward = void(Array y, ConstArray x, std::int64_t rows, std::int64_t cols,
                            SoftmaxForm form, Stream stream);
HALFTONE_KERNEL(SoftmaxForward, softmax_forward);

/// Gradient from the output y: softmax dx = y * (dy - sum_c(dy * y)); log: dx = dy - exp(y) * sum_c
/// dy. y, dy of one dtype (f32, f16, bf16 or f64), dx of that dtype or any 16-bit one; arithmetic
/// in f32. dx may lie over dy of its dtype.
using SoftmaxBackward = void(Array dx, ConstArray dy, ConstArray y, std::int64_t rows,
                             std::int64_t cols, bool log, Stream stream);
HALFTONE_KERNEL(SoftmaxBackward, softmax_backward);

/// Cross-entropy of logits (rows, cols) against class indices target (rows) i64, with log-softmax
/// inside.
///
/// - losses (rows) in f32 (f64 for f64 logits): losses[r] = -((x - max_r) - log_sum_r) with x =
///   logits[r, target[r]]; 0 if target[r] == ignore_index.
/// - stats (rows, 2) in the same dtype, for the gradient: max_r and log_sum_r = log(sum_c
///   exp(logits[r, c] - max_r)); 0 and 0 in ignored rows.
///
/// Returns false (with undefined results) if a target is neither ignore_index nor in [0, cols). A
/// GPU does not wait for that: it records the error in `refused` (unused on the CPU), returns true,
/// and gives NaN as that row's loss and log_sum.
using CrossEntropyForward = bool(Array stats, Array losses, ConstArray logits, ConstArray target,
                                 std::int64_t rows, std::int64_t cols, std::int64_t ignore_index,
                                 const DeferredErrorPlace& refused, Stream stream);
HALFTONE_KERNEL(CrossEntropyForward, cross_entropy_forward);

/// The mean of a cross-entropy on a GPU, whose host does not read the targets: factor = 1 / the
/// rows whose target is not ignore_index, in the losses' dtype, and mean = the sum of the losses
/// (rows) times factor, in any floating dtype; one element each. NaN where no row counts. The
/// losses are added in double, in a fixed order, and their sum is rounded to their dtype.
using CrossEntropyMean = void(Array mean, Array factor, ConstArray losses, ConstArray target,
                              std::int64_t ignore_index, Stream stream);
HALFTONE_CUDA_KERNEL(CrossEntropyMean, cross_entropy_mean);

/// dlogits[r, c] = scale[0 or r] * (exp((logits[r, c] - max_r) - log_sum_r) - (c == target[r])), 0
/// in ignored rows regardless of their values; in the logits' dtype, each value rounded once.
/// dlogits may overlap logits. scale: size 1 or rows, dtype of stats.
using CrossEntropyBackward = void(Array dlogits, ConstArray scale, ConstArray logits,
                                  ConstArray stats, ConstArray target, std::int64_t rows,
                                  std::int64_t cols, std::int64_t ignore_index, Stream stream);
HALFTONE_KERNEL(CrossEntropyBackward, cross_entropy_backward);

}  // namespace kernels
