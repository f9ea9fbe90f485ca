#pragma once

#include "kernels/index.h"
#include "kernels/support.h"

/// Shared by the tests of the index kernels and of their CUDA twins.
namespace kernels::test {

inline const std::vector<IndexSpan> index_spans = {
    {1, 5, 7, 1},   {2, 3, 8, 5}, {3, 40, 33, 1},    {1, 50257, 2000, 3}, {1, 3, 700, 70},
    {4, 1, 300, 2}, {1, 9, 0, 4}, {0, 4, 5, 2},      {2, 6, 4, 0},        {1, 60, 57, 130},
    {1, 7, 256, 1}, {2, 1, 1, 1}, {1, 200, 3000, 1}, {2, 9, 11, 48},
};

/// Indices in [0, n), with some repeated consecutively; with `holes` also -1.
inline Buffer indices(std::int64_t size, std::int64_t n, bool holes, unsigned seed) {
    std::mt19937 engine(seed);
    Buffer index(DType::i64, size);
    for (std::int64_t i = 0; i < size; ++i) {
        const auto drawn = static_cast<std::int64_t>(engine() % static_cast<unsigned>(n));
        const bool again = i > 0 && engine() % 4 == 0;
        index.as<std::int64_t>()[i] = again                        ? index.as<std::int64_t>()[i - 1]
                                      : holes && engine() % 5 == 0 ? -1
                                                                   : drawn;
    }
    return index;
}

inline std::int64_t indexed_size(const IndexSpan& s) { return s.outer * s.n * s.inner; }
inline std::int64_t other_size(const IndexSpan& s) { return s.outer * s.m * s.inner; }

/// Calls f(o, i, c, offset) for each element of (outer, m, inner).
template <class F>
void for_each_other(const IndexSpan& s, const F& f) {
    for (std::int64_t at = 0; at < other_size(s); ++at)
        f(at / s.inner / s.m, at / s.inner % s.m, at % s.inner, at);
}

}  // namespace kernels::test
