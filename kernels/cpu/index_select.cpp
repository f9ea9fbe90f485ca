#include <algorithm>
#include <cstring>

#include "cpu/grain.h"
#include "cpu/prefetch.h"
#include "cpu/scalar_convert.h"
#include "kernels/index.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// The value of an element that does not exist: NaN for a floating type.
template <class T>
T nothing() {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        return narrow<T>(std::numeric_limits<double>::quiet_NaN());
    else if constexpr (std::is_floating_point_v<T>)
        return std::numeric_limits<T>::quiet_NaN();
    else
        return T{};
}

bool is_inside(std::int64_t i, const IndexSpan& s) { return i >= 0 && i < s.n; }

/// The value read by an out-of-range index i.
template <class T>
T outside(std::int64_t i, const IndexSpan& s) {
    return s.holes && i == -1 ? T{} : nothing<T>();
}

/// inner = 1: single elements of each outer row.
template <class T>
void select_elements(T* y, const T* x, const std::int64_t* index, const IndexSpan& s) {
    parallel_for(s.outer, row_grain(s.m), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t o = begin; o < end; ++o)
            for (std::int64_t k = 0; k < s.m; ++k) {
                const std::int64_t i = index[k];
                y[o * s.m + k] = is_inside(i, s) ? x[o * s.n + i] : outside<T>(i, s);
            }
    });
}

/// Rows [begin, end) of m, all of one outer index.
template <class T>
void select_run(T* y, const T* x, const std::int64_t* index, const IndexSpan& s, std::int64_t begin,
                std::int64_t end) {
    const auto bytes = static_cast<std::size_t>(s.inner) * sizeof(T);
    const std::size_t fetched = std::min<std::size_t>(bytes, 512);  // the rest comes in sequence
    for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t i = index[k], soon = std::min(k + rows_ahead, end - 1);
        if (is_inside(index[soon], s)) prefetch(x + index[soon] * s.inner, fetched);
        T* to = y + (k - begin) * s.inner;
        if (is_inside(i, s))
            std::memcpy(to, x + i * s.inner, bytes);
        else
            std::fill_n(to, s.inner, outside<T>(i, s));
    }
}

template <class T>
void select_rows(T* y, const T* x, const std::int64_t* index, const IndexSpan& s) {
    if (s.inner == 1) return select_elements(y, x, index, s);
    parallel_for(s.outer * s.m, row_grain(s.inner), [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t o = begin / s.m, first = begin % s.m;
            const std::int64_t count = std::min(s.m - first, end - begin);
            select_run(y + begin * s.inner, x + o * s.n * s.inner, index, s, first, first + count);
            begin += count;
        }
    });
}

template <class T>
void gather_elements(T* y, const T* x, const std::int64_t* index, const IndexSpan& s) {
    parallel_for(s.outer * s.m, row_grain(s.inner), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const T* from = x + row / s.m * s.n * s.inner;
            for (std::int64_t c = 0; c < s.inner; ++c) {
                const std::int64_t at = row * s.inner + c, i = index[at];
                y[at] = is_inside(i, s) ? from[i * s.inner + c] : outside<T>(i, s);
            }
        }
    });
}

}  // namespace

void index_select(Array y, ConstArray x, ConstArray index, const IndexSpan& span, Stream) {
    if (y.size == 0) return;
    with_type(y.dtype, [&]<typename T>(T) {
        select_rows(static_cast<T*>(y.data), static_cast<const T*>(x.data),
                    static_cast<const std::int64_t*>(index.data), span);
    });
}

void gather(Array y, ConstArray x, ConstArray index, const IndexSpan& span, Stream) {
    if (y.size == 0) return;
    with_type(y.dtype, [&]<typename T>(T) {
        gather_elements(static_cast<T*>(y.data), static_cast<const T*>(x.data),
                        static_cast<const std::int64_t*>(index.data), span);
    });
}

}  // namespace kernels::cpu
