#pragma once

#include <cassert>

#include "kernels/gemm.h"

namespace kernels {

/// reduce(sums, operand, k, n) for each operand whose sums over k are asked for (GemmOptions):
/// sums (n) of operand (k, n).
template <class Reduce>
void for_each_operand_sum(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
                          const GemmOptions& options, const Reduce& reduce) {
    const auto sum = [&](void* to, const ConstMatrix& m, std::int64_t n,
                         [[maybe_unused]] bool dense) {
        assert(options.batch == 1 && a.cols > 0 && n > 0 && dense && m.ld == n);
        reduce(Array{to, c.dtype, n}, ConstArray{m.data, m.dtype, a.cols * n}, a.cols, n);
    };
    if (options.sums_of_a != nullptr) sum(options.sums_of_a, a, a.rows, a.transposed);
    if (options.sums_of_b != nullptr) sum(options.sums_of_b, b, b.cols, !b.transposed);
}

}  // namespace kernels
