#pragma once

#include <algorithm>
#include <cstdint>

namespace kernels::cpu {

/// Elements of a task: large enough that its overhead vanishes, small enough to distribute evenly.
/// Fixed, so that sums do not depend on the thread count.
constexpr std::int64_t piece_size = 65536;

/// Sizes of many tensors, seen as one run of elements. `size(i)` gives the length of the i-th.
template <class Size>
std::int64_t total_size(std::int64_t count, const Size& size) {
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < count; ++i) total += size(i);
    return total;
}

/// Calls f(i, first, n) for the part of each tensor within the elements [begin, end) of the run.
template <class Size, class F>
void for_each_piece(std::int64_t count, const Size& size, std::int64_t begin, std::int64_t end,
                    const F& f) {
    std::int64_t start = 0;
    for (std::int64_t i = 0; i < count && start < end; ++i) {
        const std::int64_t stop = start + size(i);
        const std::int64_t first = std::max(begin, start);
        const std::int64_t last = std::min(end, stop);
        if (first < last) f(i, first - start, last - first);
        start = stop;
    }
}

}  // namespace kernels::cpu
