#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

struct GemmOptions {
    std::int64_t batch = 1;  ///< products, `stride_*` elements apart
    std::int64_t stride_c = 0, stride_a = 0, stride_b = 0;
    double alpha = 1, beta = 0;  ///< beta != 0 reads c
    const void* bias = nullptr;  ///< (cols of c) of c's dtype, added before the rounding; or null
    bool relu = false;           ///< c = max(c, 0) after the bias; NaN stays
    /// Where the sums over k of a's rows (m), of b's columns (n) are written, in c's dtype, summed
    /// in f32 (f64 for f64) and rounded once; or null. The gradient of a layer's bias beside that
    /// of its weights. Only with batch 1, alpha other than 0 and no empty matrix, and the operand's
    /// k rows lie one after the other: a is transposed with ld = m, b is not, with ld = n.
    void* sums_of_a = nullptr;
    void* sums_of_b = nullptr;
};

/// c = alpha * a b + beta * c + bias: a (m, k), b (k, n), c (m, n), each possibly transposed in
/// memory (a, b). All of one dtype: f64, f32, f16 or bf16, or a, b 16-bit with c f32. Sums in f32
/// (f64 for f64), one rounding at the store (decisions.md#numerics, D3); f16 operands are converted
/// exactly to f32. k = 0 or alpha = 0 gives beta * c + bias: a and b are not read, as in BLAS. A
/// processor's bf16 instructions take subnormal bf16 operands for 0 and flush subnormal sums; f16,
/// f32 and f64 keep theirs.
using Gemm = void(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options,
                  Stream stream);
HALFTONE_KERNEL(Gemm, gemm);

}  // namespace kernels
