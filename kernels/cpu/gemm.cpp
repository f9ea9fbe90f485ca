#include "kernels/gemm.h"

#include <cassert>

#include "cpu/gemm_tiled.h"

namespace kernels::cpu {
namespace {

bool dtypes_agree(DType c, DType a, DType b) {
    const bool low = a == DType::f16 || a == DType::bf16;
    return a == b && is_floating(a) && (c == a || (low && c == DType::f32));
}

}  // namespace

void gemm(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options, Stream) {
    assert(dtypes_agree(c.dtype, a.dtype, b.dtype));
    assert(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols);
    if (c.rows == 0 || c.cols == 0 || options.batch == 0) return;
    gemm_tiled(c, a, b, options);
}

}  // namespace kernels::cpu
