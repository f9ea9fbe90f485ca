#include <cstring>

#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/index.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// What is read where nothing is: NaN of a floating type.
template <class T>
T nothing() {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        return narrow<T>(std::numeric_limits<double>::quiet_NaN());
    else if constexpr (std::is_floating_point_v<T>)
        return std::numeric_limits<T>::quiet_NaN();
    else
        return T{};
}

template <class T>
void select_rows(T* y, const T* x, const std::int64_t* index, const IndexSpan& s) {
    const auto bytes = static_cast<std::size_t>(s.inner) * sizeof(T);
    parallel_for(s.outer * s.m, row_grain(s.inner), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t from = index[row % s.m];
            T* to = y + row * s.inner;
            if (from >= 0 && from < s.n)
                std::memcpy(to, x + (row / s.m * s.n + from) * s.inner, bytes);
            else
                std::fill_n(to, s.inner, s.holes && from == -1 ? T{} : nothing<T>());
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
                y[at] = i >= 0 && i < s.n    ? from[i * s.inner + c]
                        : s.holes && i == -1 ? T{}
                                             : nothing<T>();
            }
        }
    });
}

}  // namespace

void index_select(Array y, ConstArray x, ConstArray index, const IndexSpan& span, Stream) {
    if (y.size == 0) return;
    with_type(y.dtype, [&](auto type) {
        using T = decltype(type);
        select_rows(static_cast<T*>(y.data), static_cast<const T*>(x.data),
                    static_cast<const std::int64_t*>(index.data), span);
    });
}

void gather(Array y, ConstArray x, ConstArray index, const IndexSpan& span, Stream) {
    if (y.size == 0) return;
    with_type(y.dtype, [&](auto type) {
        using T = decltype(type);
        gather_elements(static_cast<T*>(y.data), static_cast<const T*>(x.data),
                        static_cast<const std::int64_t*>(index.data), span);
    });
}

}  // namespace kernels::cpu
