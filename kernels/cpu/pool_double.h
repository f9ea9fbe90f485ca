#pragma once

#include "cpu/pool_axis.h"

// The f64 half of kernels/pool.h: rows [begin, end) of the output (forward) or the input (backward)
// counted over all images. Plain loops, for gradient checks.
namespace kernels::cpu {

void max_pool_rows_double(double* y, std::int32_t* index, const double* x, const PoolPlan& plan,
                          std::int64_t begin, std::int64_t end);
void max_unpool_rows_double(double* dx, const double* dy, const std::int32_t* index,
                            const PoolPlan& plan, std::int64_t begin, std::int64_t end);
void avg_pool_rows_double(double* y, const double* x, const PoolPlan& plan, std::int64_t begin,
                          std::int64_t end);
void avg_unpool_rows_double(double* dx, const double* dy, const PoolPlan& plan, std::int64_t begin,
                            std::int64_t end);

}  // namespace kernels::cpu
