#pragma once

#include "kernels/array.h"

// Layer norm over a range of rows. f32 and 16 bits, and f64, each in a file of its own.
namespace kernels::cpu {

/// Rows whose terms one f32 sum takes up.
constexpr std::int64_t layer_norm_block = 128;

/// weight and bias (cols), null for 1 and 0; mean null for 0: the root mean square alone.
template <class W>
struct LayerNormRows {
    W* mean;
    W* rstd;
    const W* weight;
    const W* bias;
    std::int64_t cols;
    double eps;
};
using LayerNormRowsF32 = LayerNormRows<float>;
using LayerNormRowsF64 = LayerNormRows<double>;

void layer_norm_rows(Array y, ConstArray x, const LayerNormRowsF32& with, std::int64_t begin,
                     std::int64_t end);
void layer_norm_rows(Array y, ConstArray x, const LayerNormRowsF64& with, std::int64_t begin,
                     std::int64_t end);

/// dx of the rows; where `sums` is not null, sums[0, cols) += sum dy xhat, sums[cols, 2 cols) +=
/// sum dy.
void layer_norm_gradient_rows(Array dx, double* sums, ConstArray dy, ConstArray x,
                              const LayerNormRowsF32& with, std::int64_t begin, std::int64_t end);
void layer_norm_gradient_rows(Array dx, double* sums, ConstArray dy, ConstArray x,
                              const LayerNormRowsF64& with, std::int64_t begin, std::int64_t end);

// Parts of an array, for kernels that work on pieces which stay in the cache. f32, f16 and bf16;
// computed in f32 and rounded once. y may be an operand of its dtype.

/// y[i] = a[i] + b[i] for i in [begin, end). b of y's dtype, a of any.
void add_range(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end);
/// y[i] = x[i] for i in [begin, end), of any dtypes.
void convert_range(Array y, ConstArray x, std::int64_t begin, std::int64_t end);

}  // namespace kernels::cpu
