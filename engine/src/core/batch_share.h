#pragma once

#include <algorithm>
#include <cstdint>

namespace engine {

/// Which rows of a batch a rank of a data-parallel run computes: [first, first + rows) of `all`.
/// A rank that has none computes the batch's first row in their place, with weight 0, so that all
/// ranks go the same way. By default the whole batch, of whatever size.
struct BatchShare {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::int64_t all = 0;

    bool whole() const { return rows == all; }
    bool idle() const { return rows == 0 && all > 0; }
    /// Rows that are computed.
    std::int64_t computed() const { return std::max<std::int64_t>(rows, 1); }
    /// Numbers that the whole batch has where this part has `count`.
    std::int64_t of_all(std::int64_t count) const {
        return whole() ? count : count / computed() * all;
    }
    /// Those of the rows before this part.
    std::int64_t before(std::int64_t count) const {
        return whole() ? 0 : count / computed() * first;
    }
};

/// The part of rank `rank` of `ranks`: contiguous, in the order of the ranks, and no two parts
/// differ by more than one row.
inline BatchShare share_of(std::int64_t all, int rank, int ranks) {
    const std::int64_t least = all / ranks, longer = all % ranks;
    return {rank * least + std::min<std::int64_t>(rank, longer), least + (rank < longer ? 1 : 0),
            all};
}

}  // namespace engine
