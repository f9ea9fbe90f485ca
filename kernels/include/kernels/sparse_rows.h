#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// The n entries of a sparse tensor, by place. All i64.
struct SparseEntries {
    const std::int64_t* places;  ///< (dims, n): coordinates
    const std::int64_t* keys;    ///< (n): the place as one number; below 0: no entry
    const std::int64_t* order;   ///< (n): entries by ascending key, equal ones in their order
    std::int64_t dims, n;
};

/// Adds up the entries of each place. The result has as many slots as there are entries, so nothing
/// waits for the number of places. The entries of one place are consecutive in `order`: the slot of
/// the first takes the place and the sum, the other slots take -1 and zeros. places (dims, n) i64;
/// sums, values (n, width) of one floating dtype. Sums run in f32 (f64 for f64) in the order of the
/// entries and are rounded once.
using CoalesceRows = void(Array places, Array sums, const SparseEntries& entries, ConstArray values,
                          Stream stream);
HALFTONE_KERNEL(CoalesceRows, coalesce_rows);

/// y[index[k]] = x[k], bits as they are; nothing for an index outside [0, rows). y (rows, width), x
/// (n, width) of one dtype, index (n) i64 with each row once.
using PutRows = void(Array y, ConstArray x, ConstArray index, std::int64_t width, Stream stream);
HALFTONE_KERNEL(PutRows, put_rows);

}  // namespace kernels
