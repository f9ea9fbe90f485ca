#pragma once

#include "kernels/gemm.h"

namespace kernels::cpu {

/// The contract of `gemm` by our own tiles, for every dtype, option and size: operands are
/// converted exactly to the type computed in (f32; f64 for f64) as they are packed, a sum runs over
/// all of k in one register, and the store rounds once. Subnormals of every dtype count. The route
/// of small products, where a library's entry costs more than the product, and of all that a
/// library would send to reference code.
void gemm_tiled(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options);

/// c = max(c, 0) for `batch` matrices `stride` elements apart; a NaN stays.
void clamp_at_zero(const Matrix& c, std::int64_t batch, std::int64_t stride);

}  // namespace kernels::cpu
