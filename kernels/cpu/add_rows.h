#pragma once

#include "kernels/array.h"

// Parts of an array, for kernels that work on pieces which stay in the cache. f32, f16 and bf16;
// computed in f32 and rounded once. y may be an operand of its dtype.
namespace kernels::cpu {

/// y[i] = a[i] + b[i] for i in [begin, end). b of y's dtype, a of any.
void add_range(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end);
/// y[i] = x[i] for i in [begin, end), of any dtypes.
void convert_range(Array y, ConstArray x, std::int64_t begin, std::int64_t end);

}  // namespace kernels::cpu
