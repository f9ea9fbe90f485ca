#include "cuda/piece_sums.cuh"
#include "cuda/workspace.h"
#include "kernels/sparse_rows.h"

namespace kernels::cuda {
namespace {

/// The entries in their order (piece_sums.cuh).
template <typename T>
struct EntryTerms {
    std::int64_t count;
    const std::int64_t *keys, *order;
    const T* values;
    std::int64_t width;

    __device__ std::int64_t key(std::int64_t i) const { return keys[order[i]]; }
    __device__ bool counts(std::int64_t key) const { return key >= 0; }
    __device__ Compute<T> value(std::int64_t i, std::int64_t column) const {
        return widen(values[order[i] * width + column]);
    }
};

/// A thread an element of the sums.
template <typename T>
__global__ void coalesce_rows_kernel(std::int64_t* places, T* sums, SparseEntries entries,
                                     EntryTerms<T> terms, PieceSums<Compute<T>> pieces) {
    const std::int64_t n = entries.n, width = terms.width;
    for (std::int64_t at = grid_thread(); at < n * width; at += grid_threads()) {
        const std::int64_t k = at / width, column = at - k * width;
        const std::int64_t entry = entries.order[k], key = entries.keys[entry];
        const bool first = terms.counts(key) && (k == 0 || terms.key(k - 1) != key);
        if (column == 0) {
            for (std::int64_t d = 0; d < entries.dims; ++d)
                places[d * n + k] = first ? entries.places[d * n + entry] : -1;
        }
        const Compute<T> none = 0;
        sums[at] = narrow<T>(first ? sum_of_key(pieces, terms, k, column, none).sum : none);
    }
}

}  // namespace

void coalesce_rows(Array places, Array sums, const SparseEntries& entries, ConstArray values,
                   Stream stream) {
    if (sums.size == 0) return;
    const std::int64_t n = entries.n, width = values.size / n;
    with_floating(values.dtype, [&]<typename T>(T) {
        using W = Compute<T>;
        const EntryTerms<T> terms{n, entries.keys, entries.order,
                                  static_cast<const T*>(values.data), width};
        PieceSums<W> pieces{nullptr, width, cpu::sum_piece};
        if (n > pieces.first) {
            const std::int64_t size = PieceSums<W>::slots(n) * width;
            pieces.sums =
                static_cast<W*>(workspace(static_cast<std::size_t>(size) * sizeof(W), stream));
            launch("coalesce_pieces", piece_sums_kernel<W, EntryTerms<T>>, grid_for(size), stream,
                   pieces, terms);
        }
        launch("coalesce_rows", coalesce_rows_kernel<T>, grid_for(sums.size), stream,
               static_cast<std::int64_t*>(places.data), static_cast<T*>(sums.data), entries, terms,
               pieces);
    });
}

}  // namespace kernels::cuda
