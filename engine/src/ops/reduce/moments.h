#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo var_info, std_info, var_mean_info, std_mean_info;

// No autocast entry: they keep x's type, and compute in f32 (f64 for f64). `correction` is
// subtracted from the number of elements by which the sum of squared deviations is divided: 1 for
// the unbiased estimate. At or beyond that number the result is NaN or infinite.

/// Variance over `dims` (empty: all).
Tensor var(const Tensor& x, const std::vector<std::int64_t>& dims = {}, double correction = 1,
           bool keepdim = false);
/// Its root; the gradient is zero where that is.
Tensor standard_deviation(const Tensor& x, const std::vector<std::int64_t>& dims = {},
                          double correction = 1, bool keepdim = false);
/// Variance and mean.
TensorList var_mean(const Tensor& x, const std::vector<std::int64_t>& dims = {},
                    double correction = 1, bool keepdim = false);
/// Standard deviation and mean.
TensorList std_mean(const Tensor& x, const std::vector<std::int64_t>& dims = {},
                    double correction = 1, bool keepdim = false);

}  // namespace engine
