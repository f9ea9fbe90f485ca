#pragma once

#include "kernels/batch_norm.h"

// The f64 half of kernels/batch_norm.h: plain loops, for gradient checks.
namespace kernels::cpu {

/// (channels) means, then (channels) sums of squared deviations. Valid until this thread's next
/// call.
const double* moments_double(ConstArray x, const BatchNormShape& shape);

/// y from the mean and the reciprocal deviation, both f64.
void normalize_double(Array y, ConstArray x, ConstArray mean, ConstArray invstd, ConstArray weight,
                      ConstArray bias, ConstArray residual, bool relu, const BatchNormShape& shape);
/// y from running statistics of any floating dtype.
void normalize_running_double(Array y, ConstArray x, ConstArray running_mean,
                              ConstArray running_var, ConstArray weight, ConstArray bias,
                              ConstArray residual, bool relu, const BatchNormShape& shape);

struct BackwardResults {
    Array dx, dresidual, dweight, dbias;
};
/// y is null without relu.
void backward_double(const BackwardResults& out, ConstArray dy, ConstArray x, const void* y,
                     ConstArray weight, ConstArray mean, ConstArray invstd, bool training,
                     const BatchNormShape& shape);

}  // namespace kernels::cpu
