#include "cpu/index_fold.h"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"
#include "kernels/sparse_rows.h"

namespace kernels::cuda {
namespace {

/// A thread an element of the sums.
template <typename T>
__global__ void coalesce_rows_kernel(std::int64_t* places, T* sums, SparseEntries entries,
                                     const T* values, std::int64_t width) {
    const std::int64_t n = entries.n;
    for (std::int64_t at = grid_thread(); at < n * width; at += grid_threads()) {
        const std::int64_t k = at / width, column = at - k * width;
        const std::int64_t entry = entries.order[k], key = entries.keys[entry];
        const bool first = key >= 0 && (k == 0 || entries.keys[entries.order[k - 1]] != key);
        if (column == 0) {
            for (std::int64_t d = 0; d < entries.dims; ++d)
                places[d * n + k] = first ? entries.places[d * n + entry] : -1;
        }
        cpu::SumFold<Compute<T>> sum;
        for (std::int64_t i = k; first && i < n && entries.keys[entries.order[i]] == key; ++i)
            sum.add(widen(values[entries.order[i] * width + column]));
        sums[at] = narrow<T>(sum.value());
    }
}

template <typename T>
__global__ void put_rows_kernel(T* y, const T* x, const std::int64_t* index, std::int64_t rows,
                                std::int64_t width, std::int64_t size) {
    for (std::int64_t at = grid_thread(); at < size; at += grid_threads()) {
        const std::int64_t k = at / width, row = index[k];
        if (row >= 0 && row < rows) y[row * width + (at - k * width)] = x[at];
    }
}

}  // namespace

void coalesce_rows(Array places, Array sums, const SparseEntries& entries, ConstArray values,
                   Stream stream) {
    if (sums.size == 0) return;
    with_floating(values.dtype, [&](auto type) {
        using T = decltype(type);
        launch("coalesce_rows", coalesce_rows_kernel<T>, grid_for(sums.size), stream,
               static_cast<std::int64_t*>(places.data), static_cast<T*>(sums.data), entries,
               static_cast<const T*>(values.data), values.size / entries.n);
    });
}

void put_rows(Array y, ConstArray x, ConstArray index, std::int64_t width, Stream stream) {
    if (x.size == 0) return;
    with_stored(y.dtype, [&](auto type) {
        using T = decltype(type);
        launch("put_rows", put_rows_kernel<T>, grid_for(x.size), stream, static_cast<T*>(y.data),
               static_cast<const T*>(x.data), static_cast<const std::int64_t*>(index.data),
               y.size / width, width, x.size);
    });
}

}  // namespace kernels::cuda
