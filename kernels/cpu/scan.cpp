#include "kernels/reduce.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t tile = 256;  ///< neighbouring columns of one task

/// Sums and products of integers wrap around, as those of std::uint64_t do.
template <class To, class W>
To scan_result(W value) {
    if constexpr (std::is_same_v<W, std::uint64_t>)
        return static_cast<To>(value);
    else
        return narrow<To>(static_cast<double>(value));
}

/// Up to `tile` columns side by side, from their first row; a or b may be null.
template <class W, class To, class From>
void scan_columns(To* y, const From* a, const From* b, std::int64_t n, std::int64_t inner,
                  std::int64_t width, bool reverse) {
    W state[tile] = {};
    for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t row = (reverse ? n - 1 - step : step) * inner;
        for (std::int64_t c = 0; c < width; ++c) {
            const W factor = a ? static_cast<W>(widen(a[row + c])) : W{1};
            const W term = b ? static_cast<W>(widen(b[row + c])) : W{0};
            if (step == 0)
                state[c] = b ? term : factor;
            else
                state[c] = !a ? state[c] + term : !b ? factor * state[c] : term + factor * state[c];
            y[row + c] = scan_result<To>(state[c]);
        }
    }
}

template <class W, class To, class From>
void scan_as(Array y, ConstArray a, ConstArray b, std::int64_t outer, std::int64_t n,
             std::int64_t inner, bool reverse) {
    const std::int64_t tiles = (inner + tile - 1) / tile;
    const auto part = [](const void* data, std::int64_t at) {
        return data ? static_cast<const From*>(data) + at : nullptr;
    };
    parallel_for(outer * tiles, row_grain(n * std::min(inner, tile)),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t task = begin; task < end; ++task) {
                         const std::int64_t col = task % tiles * tile;
                         const std::int64_t at = task / tiles * n * inner + col;
                         scan_columns<W>(static_cast<To*>(y.data) + at, part(a.data, at),
                                         part(b.data, at), n, inner, std::min(tile, inner - col),
                                         reverse);
                     }
                 });
}

}  // namespace

void scan(Array y, ConstArray a, ConstArray b, std::int64_t outer, std::int64_t n,
          std::int64_t inner, bool reverse, Stream) {
    const DType from = a.data ? a.dtype : b.dtype;
    assert((!a.data || a.size == y.size) && (!b.data || b.size == y.size));
    assert(y.size == outer * n * inner);
    if (y.size == 0) return;
    if (from == DType::f64)
        return scan_as<double, double, double>(y, a, b, outer, n, inner, reverse);
    if (from == DType::i64)
        return scan_as<std::uint64_t, std::int64_t, std::int64_t>(y, a, b, outer, n, inner,
                                                                  reverse);
    with_type(from, [&](auto type) {
        using From = decltype(type);
        if constexpr (std::is_same_v<decltype(widen(type)), double>) {
            if (y.dtype == DType::f32)
                scan_as<float, float, From>(y, a, b, outer, n, inner, reverse);
            else
                scan_as<float, From, From>(y, a, b, outer, n, inner, reverse);
        }
    });
}

}  // namespace kernels::cpu
