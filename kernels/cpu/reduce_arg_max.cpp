#include <cassert>
#include <cmath>
#include <cstdint>

#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"
#include "kernels/reduce.h"

namespace kernels::cpu {
namespace {

bool is_nan(double v) { return std::isnan(v); }
bool is_nan(std::int64_t) { return false; }

template <class T>
std::int64_t first_largest(const T* x, std::int64_t n, std::int64_t step) {
    std::int64_t best = 0;
    auto most = widen(x[0]);
    for (std::int64_t i = 1; i < n && !is_nan(most); ++i) {
        const auto v = widen(x[i * step]);
        if (v > most || is_nan(v)) {
            most = v;
            best = i;
        }
    }
    return best;
}

}  // namespace

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
