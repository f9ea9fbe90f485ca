#include <bit>
#include <cassert>

#include "cuda/block_reduce.cuh"
#include "cuda/piece_sums.cuh"
#include "cuda/table_list.cuh"
#include "cuda/workspace.h"
#include "kernels/sparse_rows.h"

namespace kernels::cuda {
namespace {

/// An entry as what the sort moves: its row and 1 in the upper half, 0 for none, so that those come
/// first, and its place in the lower half.
using Item = std::uint64_t;

constexpr int place_bits = 32;

constexpr std::size_t max_sparse_tables = 64;  ///< of one launch

struct SparseList {
    const std::int64_t* index[max_sparse_tables];
    const void* values[max_sparse_tables];
    std::int64_t* places[max_sparse_tables];
    void* sums[max_sparse_tables];
    std::uint32_t n[max_sparse_tables];
    std::uint32_t rows[max_sparse_tables];
    std::int64_t first[max_sparse_tables];  ///< entries of the tables before it
};

constexpr int items_of_thread = 8;
constexpr int sorted_tile = default_threads * items_of_thread;
constexpr int digit_bits = 4, digits = 1 << digit_bits;

/// Sums of what the threads before this one give, in a block of default_threads.
__device__ __forceinline__ int sum_before(int mine) {
    constexpr int warps = default_threads / warp_size;
    __shared__ int of_warp[warps];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size;
    int sum = mine;
    for (int step = 1; step < warp_size; step *= 2) {
        const int before = __shfl_sync(whole_warp, sum, lane < step ? lane : lane - step);
        if (lane >= step) sum += before;
    }
    if (lane == warp_size - 1) of_warp[thread / warp_size] = sum;
    __syncthreads();
    int all = sum - mine;
    for (int w = 0; w < warps; ++w)
        if (w < thread / warp_size) all += of_warp[w];
    return all;
}

/// Sorts tiles of entries by their rows, a block each: digit by digit from the lowest. A thread has
/// neighbouring entries and counts them by digit; where they go follows from the counts of all
/// lower digits and of the threads before, so that equal rows stay in their order.
__global__ void sort_tiles_of_tables_kernel(Item* sorted, SparseList list, int key_bits) {
    __shared__ Item items[sorted_tile];
    __shared__ int counts[digits * default_threads];  // by digit, then by thread
    const int thread = static_cast<int>(threadIdx.x);
    const std::uint32_t table = blockIdx.y, n = list.n[table];
    const std::uint32_t begin = blockIdx.x * sorted_tile;
    if (begin >= n) return;
    Item own[items_of_thread];
    for (int i = thread; i < sorted_tile; i += default_threads) {
        const std::uint32_t place = begin + static_cast<std::uint32_t>(i);
        Item key = 0xffffffffu;  // behind the end: comes last
        if (place < n) {
            const std::int64_t row = list.index[table][place];
            key = row >= 0 && row < list.rows[table] ? static_cast<Item>(row) + 1 : 0;
        }
        items[i] = key << place_bits | place;
    }
    __syncthreads();
    for (int bit = place_bits; bit < place_bits + key_bits; bit += digit_bits) {
        const auto digit_of = [bit](Item item) {
            return static_cast<int>(item >> bit) & (digits - 1);
        };
        for (int d = 0; d < digits; ++d) counts[d * default_threads + thread] = 0;
#pragma unroll
        for (int k = 0; k < items_of_thread; ++k) {
            own[k] = items[thread * items_of_thread + k];
            ++counts[digit_of(own[k]) * default_threads + thread];
        }
        __syncthreads();
        // The running sum of the counts as they lie, `digits` of them by each thread.
        int* const mine = counts + thread * digits;
        int sum = 0;
        for (int d = 0; d < digits; ++d) sum += mine[d];
        int before = sum_before(sum);
        for (int d = 0; d < digits; ++d) {
            const int count = mine[d];
            mine[d] = before;
            before += count;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < items_of_thread; ++k)
            items[counts[digit_of(own[k]) * default_threads + thread]++] = own[k];
        __syncthreads();
    }
    for (int i = thread; i < sorted_tile; i += default_threads)
        if (begin + static_cast<std::uint32_t>(i) < n)
            sorted[list.first[table] + begin + i] = items[i];
}

/// Pairs of sorted runs of `width` entries into one each: an entry's place is its own plus how many
/// of the other run go before it. No two items are equal, since their places differ.
__global__ void merge_tables_kernel(Item* out, const Item* in, SparseList list,
                                    std::int64_t width) {
    const std::uint32_t table = blockIdx.y;
    const std::int64_t n = list.n[table];
    in += list.first[table];
    out += list.first[table];
    for (std::int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const std::int64_t run = i / width, first = run * width;
        const std::int64_t other = run % 2 != 0 ? first - width : first + width;
        const Item item = in[i];
        std::int64_t low = other < n ? other : n, high = other + width < n ? other + width : n;
        const std::int64_t start = low;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (in[middle] < item)
                low = middle + 1;
            else
                high = middle;
        }
        const std::int64_t own = run % 2 != 0 ? i - width : i;
        out[own + (low - start)] = item;
    }
}

/// A table's entries in their order (piece_sums.cuh).
template <typename T>
struct TableTerms {
    std::int64_t count;
    const Item* items;
    const T* values;
    std::int64_t width;

    __device__ std::int64_t key(std::int64_t i) const {
        return static_cast<std::int64_t>(items[i] >> place_bits);
    }
    __device__ bool counts(std::int64_t key) const { return key > 0; }
    __device__ Compute<T> value(std::int64_t i, std::int64_t column) const {
        return widen(values[static_cast<std::uint32_t>(items[i]) * width + column]);
    }
};

template <typename T>
__device__ __forceinline__ TableTerms<T> terms_of(const SparseList& list, const Item* sorted,
                                                  std::uint32_t table, std::int64_t width) {
    return {list.n[table], sorted + list.first[table], static_cast<const T*>(list.values[table]),
            width};
}

/// The table's part of the pieces of all: each has a slot for 256 of its entries, and one more.
template <typename W>
__device__ __forceinline__ PieceSums<W> pieces_of(PieceSums<W> pieces, const SparseList& list,
                                                  std::uint32_t table) {
    pieces.sums += (list.first[table] / cpu::sum_piece + table) * pieces.columns;
    return pieces;
}

template <typename T>
__global__ void table_pieces_kernel(SparseList list, const Item* sorted,
                                    PieceSums<Compute<T>> pieces) {
    const std::uint32_t table = blockIdx.y;
    const auto terms = terms_of<T>(list, sorted, table, pieces.columns);
    const auto own = pieces_of(pieces, list, table);
    const std::int64_t slots = (terms.count + cpu::sum_piece - 1) / cpu::sum_piece;
    for_each_row_part(slots, pieces.columns, [&](std::int64_t slot, std::int64_t column) {
        sum_of_slot(own, terms, slot, column);
    });
}

/// A thread an element of the sums.
template <typename T>
__global__ void coalesce_tables_kernel(SparseList list, const Item* sorted,
                                       PieceSums<Compute<T>> pieces) {
    const std::uint32_t table = blockIdx.y;
    const auto terms = terms_of<T>(list, sorted, table, pieces.columns);
    const auto own = pieces_of(pieces, list, table);
    auto* const sums = static_cast<T*>(list.sums[table]);
    std::int64_t* const places = list.places[table];
    for_each_row_part(terms.count, pieces.columns, [&](std::int64_t k, std::int64_t column) {
        const std::int64_t key = terms.key(k);
        const bool first = terms.counts(key) && (k == 0 || terms.key(k - 1) != key);
        if (column == 0) places[k] = first ? key - 1 : -1;
        const Compute<T> none = 0;
        sums[k * pieces.columns + column] =
            narrow<T>(first ? sum_of_key(own, terms, k, column, none).sum : none);
    });
}

/// Size of the list of one launch.
struct ListSize {
    std::int64_t entries = 0, most = 0;  ///< of all tables, of one
    std::uint32_t rows = 0;              ///< of the largest
};

ListSize fill_list(SparseList& list, std::span<const SparseTable> tables) {
    ListSize size;
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const SparseTable& table = tables[t];
        assert(table.n <= max_sparse_table && table.rows <= max_sparse_table);
        list.index[t] = table.index;
        list.values[t] = table.values;
        list.places[t] = table.places;
        list.sums[t] = table.sums;
        list.n[t] = static_cast<std::uint32_t>(table.n);
        list.rows[t] = static_cast<std::uint32_t>(table.rows);
        list.first[t] = size.entries;
        size.entries += table.n;
        size.most = std::max(size.most, table.n);
        size.rows = std::max(size.rows, list.rows[t]);
    }
    return size;
}

/// The entries of each table in the order of their rows; `other` is as large as `items`.
const Item* sort_tables(Item* items, Item* other, const SparseList& list, const ListSize& size,
                        std::int64_t tables, Stream stream) {
    const std::int64_t tiles = (size.most + sorted_tile - 1) / sorted_tile;
    launch("sort_tables", sort_tiles_of_tables_kernel, Grid{tiles, default_threads, tables}, stream,
           items, list, static_cast<int>(std::bit_width(size.rows + 1)));
    const Grid grid = grid_for(size.most);
    for (std::int64_t width = sorted_tile; width < size.most; width *= 2) {
        launch("merge_tables", merge_tables_kernel, Grid{grid.blocks, grid.threads, tables}, stream,
               other, items, list, width);
        std::swap(items, other);
    }
    return items;
}

template <typename T>
void coalesce_list(std::span<const SparseTable> tables, std::int64_t width, Stream stream) {
    using W = Compute<T>;
    SparseList list{};
    const ListSize size = fill_list(list, tables);
    if (size.entries == 0 || width == 0) return;
    const auto count = static_cast<std::int64_t>(tables.size());
    const std::int64_t slots = size.entries / cpu::sum_piece + count;
    const auto bytes = static_cast<std::size_t>(size.entries) * sizeof(Item);
    WorkspaceParts parts;
    const std::size_t one = parts.take(bytes);
    const std::size_t two = parts.take(size.most > sorted_tile ? bytes : 0);
    const std::size_t sums = parts.take(static_cast<std::size_t>(slots * width) * sizeof(W));
    auto* const start = static_cast<std::byte*>(workspace(parts.total(), stream));
    const Item* const sorted =
        sort_tables(reinterpret_cast<Item*>(start + one), reinterpret_cast<Item*>(start + two),
                    list, size, count, stream);
    const PieceSums<W> pieces{reinterpret_cast<W*>(start + sums), width, cpu::sum_piece};
    if (size.most > pieces.first)
        launch("coalesce_pieces", table_pieces_kernel<T>,
               grid_of_tables(PieceSums<W>::slots(size.most), width, count), stream, list, sorted,
               pieces);
    launch("coalesce_tables", coalesce_tables_kernel<T>, grid_of_tables(size.most, width, count),
           stream, list, sorted, pieces);
}

}  // namespace

void coalesce_tables(std::span<const SparseTable> tables, DType dtype, std::int64_t width,
                     Stream stream) {
    with_floating(dtype, [&](auto type) {
        for_each_part_of<max_sparse_tables>(tables, [&](std::size_t, auto part) {
            coalesce_list<decltype(type)>(part, width, stream);
        });
    });
}

}  // namespace kernels::cuda
