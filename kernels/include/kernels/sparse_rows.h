#pragma once

#include <span>

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

/// One of several sparse tables, on the device: its entries and their sums by row.
struct SparseTable {
    const std::int64_t* index;  ///< (n): rows; below 0 or beyond the table: no entry
    const void* values;         ///< (n, width)
    std::int64_t* places;       ///< (n): written
    void* sums;                 ///< (n, width): written
    std::int64_t n, rows;
};
/// Up to which n and rows a table may have.
constexpr std::int64_t max_sparse_table = (std::int64_t{1} << 31) - 1;

/// Sorts the entries of each table by their rows and adds them up, all tables together, with the
/// bits of sort_order and coalesce_rows for each. Values and sums are of one floating dtype and of
/// one width.
using CoalesceTables = void(std::span<const SparseTable> tables, DType dtype, std::int64_t width,
                            Stream stream);
HALFTONE_CUDA_KERNEL(CoalesceTables, coalesce_tables);

/// Some rows of an array and a copy of them side by side; bits without a type.
struct MovedRows {
    void* whole;                  ///< (rows, bytes)
    void* copy;                   ///< (n, bytes)
    const std::int64_t* index;    ///< (n): each row once at most; outside of [0, rows): none
    std::int64_t n, rows, bytes;  ///< of a row; an even number
};
/// copy[k] = whole[index[k]] in each; zeros where the index is none.
using FetchRows = void(std::span<const MovedRows> moved, Stream stream);
HALFTONE_KERNEL(FetchRows, fetch_rows);
/// whole[index[k]] = copy[k] in each.
using PutRows = void(std::span<const MovedRows> moved, Stream stream);
HALFTONE_KERNEL(PutRows, put_rows);

}  // namespace kernels
