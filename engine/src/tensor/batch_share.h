#pragma once

#include <algorithm>
#include <cstdint>

namespace engine {

/// The rows of a batch that a rank of a data-parallel run computes: [first, first + rows) of `all`.
/// A rank without rows computes the first row of the batch instead, with weight 0, so that all
/// ranks run the same code. The default is the whole batch, of any size.
struct BatchShare {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::int64_t all = 0;

    bool whole() const { return rows == all; }
    bool idle() const { return rows == 0 && all > 0; }
    /// Number of rows to compute; at least 1.
    std::int64_t computed() const { return std::max<std::int64_t>(rows, 1); }
    /// The count for the whole batch if this part has `count` numbers.
    std::int64_t of_all(std::int64_t count) const {
        return whole() ? count : count / computed() * all;
    }
    /// The count for the rows before this part.
    std::int64_t before(std::int64_t count) const {
        return whole() ? 0 : count / computed() * first;
    }
};

/// The part of rank `rank` of `ranks`. Parts are contiguous, in the order of the ranks, and differ
/// by at most one row.
inline BatchShare share_of(std::int64_t all, int rank, int ranks) {
    const std::int64_t least = all / ranks, longer = all % ranks;
    return {rank * least + std::min<std::int64_t>(rank, longer), least + (rank < longer ? 1 : 0),
            all};
}

}  // namespace engine
