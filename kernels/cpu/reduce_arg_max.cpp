#include <cassert>

#include "cpu/first_largest.h"
#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"
#include "kernels/reduce.h"

namespace kernels::cpu {
void arg_max(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
             Stream) {
    assert(y.dtype == DType::i64 && x.size == outer * n * inner);
    if (n == 0) return;
    parallel_for(outer * inner, row_grain(n), [&](std::int64_t begin, std::int64_t end) {
        with_type(x.dtype, [&](auto type) {
            using T = decltype(type);
            for (std::int64_t i = begin; i < end; ++i) {
                const T* first = static_cast<const T*>(x.data) + i / inner * n * inner + i % inner;
                static_cast<std::int64_t*>(y.data)[i] = first_largest(first, n, inner);
            }
        });
    });
}

}  // namespace kernels::cpu
