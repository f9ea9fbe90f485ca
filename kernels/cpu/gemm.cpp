#include "kernels/gemm.h"

#include <cassert>

#include "cpu/dnnl_ops.h"
#include "cpu/gemm_tiled.h"
#include "kernels/reduce.h"
#include "shared/gemm_sums.h"

namespace kernels::cpu {
namespace {

[[maybe_unused]] bool dtypes_agree(DType c, DType a, DType b) {
    const bool low = a == DType::f16 || a == DType::bf16;
    return a == b && is_floating(a) && (c == a || (low && c == DType::f32));
}

/// Multiply-adds from which oneDNN is faster than our tiles, measured on Zen 4 with one thread: f32
/// by 5 % from 64^3 on; bf16, which has its own instructions there, from 24^3 on and soon by a
/// factor of two. oneDNN has no f16 and f64; our tiles run f16 at the speed of its f32.
constexpr std::int64_t library_f32 = 64 * 64 * 64;
constexpr std::int64_t library_bf16 = 24 * 24 * 24;

bool library_wins(DType dtype, std::int64_t multiply_adds) {
    if (dtype == DType::f32) return multiply_adds >= library_f32;
    return dtype == DType::bf16 && multiply_adds >= library_bf16;
}

}  // namespace

void gemm(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options, Stream stream) {
    assert(dtypes_agree(c.dtype, a.dtype, b.dtype));
    assert(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols);
    if (c.rows == 0 || c.cols == 0 || options.batch == 0) return;
    for_each_operand_sum(c, a, b, options,
                         [&](Array sums, ConstArray of, std::int64_t k, std::int64_t n) {
                             reduce(sums, of, 1, k, n, ReduceOp::sum, stream);
                         });
    if (options.alpha == 0) a.cols = b.rows = 0;
    if (library_wins(a.dtype, c.rows * c.cols * a.cols) && dnnl_gemm(c, a, b, options)) return;
    gemm_tiled(c, a, b, options);
}

}  // namespace kernels::cpu
