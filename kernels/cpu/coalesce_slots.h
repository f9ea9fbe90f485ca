#pragma once

#include <algorithm>

#include "kernels/sparse_rows.h"

namespace kernels::cpu {

/// The entry in slot k of the order is the first of its place.
inline bool is_first(const SparseEntries& entries, std::int64_t k) {
    const std::int64_t key = entries.keys[entries.order[k]];
    return key >= 0 && (k == 0 || entries.keys[entries.order[k - 1]] != key);
}

/// Writes the slots [begin, end) of coalesce_rows. add_up(k, last) writes row k of the sums from
/// the entries in slots [k, last).
template <class T, class AddUp>
void coalesce_slots(std::int64_t* places, T* sums, const SparseEntries& entries, std::int64_t width,
                    std::int64_t begin, std::int64_t end, const AddUp& add_up) {
    const std::int64_t n = entries.n;
    for (std::int64_t k = begin; k < end; ++k) {
        const bool first = is_first(entries, k);
        const std::int64_t entry = entries.order[k];
        for (std::int64_t d = 0; d < entries.dims; ++d)
            places[d * n + k] = first ? entries.places[d * n + entry] : -1;
        if (!first) {
            std::fill_n(sums + k * width, width, T{});
            continue;
        }
        std::int64_t last = k + 1;
        while (last < n && entries.keys[entries.order[last]] == entries.keys[entry]) ++last;
        add_up(k, last);
    }
}

}  // namespace kernels::cpu
