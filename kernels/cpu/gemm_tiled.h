#pragma once

#include "kernels/gemm.h"

namespace kernels::cpu {

/// Implements `gemm` by our own tiles, for every dtype, option and size. Operands are converted
/// exactly to the computing type (f32; f64 for f64) as they are packed or read, a sum runs over all
/// of k in one register, and the store rounds once. Subnormals of every dtype count. Used for small
/// products, where a library call costs more than the product, and for all cases that a library
/// would compute by reference code.
void gemm_tiled(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options);

/// c = max(c, 0) for `batch` matrices `stride` elements apart; a NaN stays.
void clamp_at_zero(const Matrix& c, std::int64_t batch, std::int64_t stride);

}  // namespace kernels::cpu
