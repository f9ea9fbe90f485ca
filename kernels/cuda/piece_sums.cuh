#pragma once

#include "cpu/index_fold.h"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"

/// Sums of the terms of a key by many threads, with the bits of SumFold, which adds up pieces of
/// 256 terms first: of a key with more terms than a piece each later piece is summed by a thread of
/// its own (piece_sums_kernel), and the thread that sums the first one adds them up in their order.
///
/// Terms, of which those of a key lie together, sorted by key:
///     std::int64_t count;
///     std::int64_t key(std::int64_t i)
///     bool counts(std::int64_t key)                 // its terms are summed at all
///     W value(std::int64_t i, std::int64_t column)
namespace kernels::cuda {

constexpr int loads_in_flight = 8;  ///< terms that a thread loads together

/// Place of the key's first term, or `end` if none comes before that.
template <typename Terms>
__device__ std::int64_t first_of(const Terms& terms, std::int64_t end, std::int64_t key) {
    std::int64_t low = 0, high = end;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (terms.key(middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Place behind the last term with this key, which term i has; at most `end`.
template <typename Terms>
__device__ std::int64_t end_of(const Terms& terms, std::int64_t i, std::int64_t end,
                               std::int64_t key) {
    std::int64_t low = i, high = end;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (terms.key(middle) == key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// `sum` with the terms of the key from i on added, `most` of them at most. Several are loaded
/// together, so that the loads overlap.
template <typename W, typename Terms>
__device__ W add_terms(W sum, const Terms& terms, std::int64_t i, std::int64_t most,
                       std::int64_t key, std::int64_t column) {
    const std::int64_t end = terms.count - i < most ? terms.count : i + most;
    int n = loads_in_flight;
    for (; i < end && n == loads_in_flight; i += loads_in_flight) {
        W taken[loads_in_flight] = {};
        n = 0;
#pragma unroll
        for (int b = 0; b < loads_in_flight; ++b) {
            const bool there = i + b < end && terms.key(i + b) == key;
            if (there) taken[b] = terms.value(i + b, column);
            n += there ? 1 : 0;
        }
#pragma unroll
        for (int b = 0; b < loads_in_flight; ++b)
            if (b < n) sum = cpu::wrapping_sum(sum, taken[b]);
    }
    return sum;
}

/// Where the later pieces of `columns` columns lie, for keys whose first piece has `first` terms of
/// these: 256, or 255 behind a base. Two of them begin at least 256 terms apart, of whichever keys.
template <typename W>
struct PieceSums {
    W* sums;  ///< (slots, columns)
    std::int64_t columns, first;

    static std::int64_t slots(std::int64_t terms) { return terms / cpu::sum_piece + 1; }
    __device__ W& of(std::int64_t i, std::int64_t column) const {
        return sums[i / cpu::sum_piece * columns + column];
    }
};

/// One column of a slot, in whose 256 terms a later piece may begin: only of the key of the first
/// of them, since its key has `first` terms before it.
template <typename W, typename Terms>
__device__ void sum_of_slot(const PieceSums<W>& pieces, const Terms& terms, std::int64_t slot,
                            std::int64_t column) {
    constexpr std::int64_t piece = cpu::sum_piece;
    const std::int64_t start = slot * piece, key = terms.key(start);
    if (!terms.counts(key)) return;
    const std::int64_t second = first_of(terms, start, key) + pieces.first;
    const std::int64_t i =
        second >= start ? second : second + (start - second + piece - 1) / piece * piece;
    if (i < start + piece && i < terms.count && terms.key(i) == key)
        pieces.of(i, column) = add_terms(W{0}, terms, i, piece, key, column);
}

/// A thread a column of a slot.
template <typename W, typename Terms>
__global__ void piece_sums_kernel(PieceSums<W> pieces, Terms terms) {
    constexpr std::int64_t piece = cpu::sum_piece;
    const std::int64_t slots = (terms.count + piece - 1) / piece;
    for (std::int64_t at = grid_thread(); at < slots * pieces.columns; at += grid_threads()) {
        const std::int64_t slot = at / pieces.columns;
        sum_of_slot(pieces, terms, slot, at - slot * pieces.columns);
    }
}

/// The sum of a key whose first term is i, and how many terms it has.
template <typename W>
struct KeySum {
    W sum;
    std::int64_t count;
};
/// `base` comes before the terms; 0: none.
template <typename W, typename Terms>
__device__ KeySum<W> sum_of_key(const PieceSums<W>& pieces, const Terms& terms, std::int64_t i,
                                std::int64_t column, W base) {
    constexpr std::int64_t piece = cpu::sum_piece;
    const std::int64_t key = terms.key(i), second = i + pieces.first;
    W sum = cpu::wrapping_sum(
        W{0}, add_terms(cpu::wrapping_sum(W{0}, base), terms, i, pieces.first, key, column));
    if (second >= terms.count || terms.key(second) != key) {
        const std::int64_t most = terms.count < second ? terms.count : second;
        return {sum, end_of(terms, i, most, key) - i};
    }
    const std::int64_t end = end_of(terms, second, terms.count, key);
    for (std::int64_t k = second; k < end; k += piece * loads_in_flight) {
        W taken[loads_in_flight] = {};
#pragma unroll
        for (int b = 0; b < loads_in_flight; ++b)
            if (k + b * piece < end) taken[b] = pieces.of(k + b * piece, column);
#pragma unroll
        for (int b = 0; b < loads_in_flight; ++b)
            if (k + b * piece < end) sum = cpu::wrapping_sum(sum, taken[b]);
    }
    return {sum, end - i};
}

}  // namespace kernels::cuda
