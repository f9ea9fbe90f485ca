#include "kernels/sort.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>
#include <vector>

#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// NaN above all else; equal to one another.
template <class W>
bool less(W a, W b) {
    if constexpr (std::is_floating_point_v<W>) {
        if (std::isnan(a)) return false;
        if (std::isnan(b)) return true;
    }
    return a < b;
}

template <class W>
struct Keyed {
    W value;
    std::int64_t place;
};

template <class T>
void sort_column(std::int64_t* y, const T* x, std::int64_t n, std::int64_t inner, bool descending) {
    using W = decltype(widen(*x));
    std::vector<Keyed<W>> keyed(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k)
        keyed[static_cast<std::size_t>(k)] = {widen(x[k * inner]), k};
    std::stable_sort(keyed.begin(), keyed.end(), [descending](const auto& a, const auto& b) {
        return descending ? less(b.value, a.value) : less(a.value, b.value);
    });
    for (std::int64_t k = 0; k < n; ++k) y[k * inner] = keyed[static_cast<std::size_t>(k)].place;
}

}  // namespace

void sort_order(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                bool descending, Stream) {
    assert(y.dtype == DType::i64 && x.size == outer * n * inner && y.size == x.size);
    if (x.size == 0) return;
    parallel_for(outer * inner, row_grain(4 * n), [&](std::int64_t begin, std::int64_t end) {
        with_type(x.dtype, [&]<typename T>(T) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t at = i / inner * n * inner + i % inner;
                sort_column(static_cast<std::int64_t*>(y.data) + at,
                            static_cast<const T*>(x.data) + at, n, inner, descending);
            }
        });
    });
}

}  // namespace kernels::cpu
