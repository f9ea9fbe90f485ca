#pragma once

#include <span>

#include "cuda/pack.cuh"

/// Rows of one or several tables in one launch: blockIdx.y is the table, and the blocks of a column
/// of the grid share its rows.
namespace kernels::cuda {

/// A grid for for_each_row_part() with up to `rows` rows of `parts` parts in each of `tables`.
inline Grid grid_of_tables(std::int64_t rows, std::int64_t parts, std::int64_t tables) {
    const Grid wanted = grid_for(rows * parts);
    return {wanted.blocks, wanted.threads, tables};
}

/// body(row, part) for each of `parts` parts of the rows of this block's table. Neighbouring
/// threads have neighbouring parts, and a thread divides once, not for each part.
template <typename Body>
__device__ __forceinline__ void for_each_row_part(std::int64_t rows, std::int64_t parts,
                                                  const Body& body) {
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const int wide = parts < threads ? static_cast<int>(parts) : threads;
    const int at_once = threads / wide, own = thread / wide;
    if (own >= at_once) return;  // the last threads, where a row's parts do not divide the block
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * at_once + own; row < rows;
         row += static_cast<std::int64_t>(gridDim.x) * at_once) {
        for (std::int64_t part = thread % wide; part < parts; part += wide) body(row, part);
    }
}

/// f(constant number of neighbours that a thread moves): as many as every row of `width` elements
/// is aligned for, in y and in each of the arrays.
template <typename T, typename Arrays, typename F>
void with_row_packs(const Arrays& arrays, const T* y, std::int64_t width, const F& f) {
    constexpr int wide = pack_width<T>;
    bool packed = width % wide == 0 && packs_in<wide>(wide, y) == 1;
    for (const auto& each : arrays)
        packed = packed && packs_in<wide>(wide, static_cast<const T*>(each.data)) == 1;
    if (packed)
        f(std::integral_constant<int, wide>{});
    else
        f(std::integral_constant<int, 1>{});
}

/// f(part of the list) for parts of at most `most` tables, what one launch takes.
template <std::size_t most, typename T, typename F>
void for_each_part_of(std::span<const T> tables, const F& f) {
    for (std::size_t at = 0; at < tables.size(); at += most)
        f(at, tables.subspan(at, tables.size() - at < most ? tables.size() - at : most));
}

}  // namespace kernels::cuda
