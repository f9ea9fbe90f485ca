#include "kernels/embedding_bag.h"

#include <limits>

#include "cpu/index_fold.h"
#include "cuda/convert.cuh"
#include "cuda/table_list.cuh"

namespace kernels::cuda {
namespace {

/// The folds of cpu::SumFold of neighbours, which all have the same terms.
template <typename W, int width>
struct NeighbourSums {
    W whole[width] = {}, piece[width] = {};
    std::int64_t terms = 0;

    template <typename Value>
    __device__ __forceinline__ void add(const Value& value) {
#pragma unroll
        for (int k = 0; k < width; ++k) piece[k] += value(k);
        if (++terms % cpu::sum_piece != 0) return;
#pragma unroll
        for (int k = 0; k < width; ++k) {
            whole[k] += piece[k];
            piece[k] = 0;
        }
    }
};

constexpr int rows_in_flight = 4;  ///< that a thread loads together

/// A thread `width` neighbours of a bag's vector.
template <typename T, int width>
__global__ void embedding_bag_kernel(T* __restrict__ y, const T* __restrict__ table,
                                     const std::int64_t* __restrict__ index,
                                     const T* __restrict__ weights, Bags bags, std::int64_t rows,
                                     std::int64_t columns, bool mean) {
    using W = Compute<T>;
    for_each_row_part(bags.count, columns / width, [&](std::int64_t bag, std::int64_t part) {
        const std::int64_t end = bags.end(bag);
        NeighbourSums<W, width> sums;
        for (std::int64_t i = bags.begin(bag); i < end; i += rows_in_flight) {
            Pack<T, width> taken[rows_in_flight] = {};
            bool counts[rows_in_flight];
#pragma unroll
            for (int b = 0; b < rows_in_flight; ++b) {
                const std::int64_t row = i + b < end ? index[i + b] : bags.padding;
                counts[b] = row != bags.padding;
                if (!counts[b]) continue;
                if (row >= 0 && row < rows) {
                    taken[b] = load_pack<width>(table + row * columns + part * width);
                    continue;
                }
#pragma unroll
                for (int k = 0; k < width; ++k)
                    taken[b].at[k] = narrow<T>(std::numeric_limits<W>::quiet_NaN());
            }
#pragma unroll
            for (int b = 0; b < rows_in_flight; ++b) {
                if (!counts[b]) continue;
                const W weight = weights == nullptr ? W{1} : widen(weights[i + b]);
                sums.add([&](int k) { return weight * widen(taken[b].at[k]); });
            }
        }
        W all[width];
#pragma unroll
        for (int k = 0; k < width; ++k) all[k] = sums.whole[k] + sums.piece[k];
        if (mean && sums.terms > 1) {
#pragma unroll
            for (int k = 0; k < width; ++k) all[k] /= static_cast<W>(sums.terms);
        }
        Pack<T, width> out;
#pragma unroll
        for (int k = 0; k < width; ++k) out.at[k] = narrow<T>(all[k]);
        store_pack(y + bag * columns + part * width, out);
    });
}

__global__ void bag_numbers_kernel(std::int64_t* y, const std::int64_t* index, Bags bags) {
    for (std::int64_t i = grid_thread(); i < bags.terms; i += grid_threads())
        y[i] = index[i] == bags.padding ? -1 : bags.bag_of(i);
}

}  // namespace

void embedding_bag(Array y, ConstArray table, ConstArray index, ConstArray weights,
                   const Bags& bags, std::int64_t width, bool mean, Stream stream) {
    if (y.size == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        auto* const to = static_cast<T*>(y.data);
        with_row_packs(std::span(&table, 1), to, width, [&](auto wide) {
            launch("embedding_bag", embedding_bag_kernel<T, wide()>,
                   grid_of_tables(bags.count, width / wide(), 1), stream, to,
                   static_cast<const T*>(table.data),
                   static_cast<const std::int64_t*>(index.data),
                   static_cast<const T*>(weights.data), bags, table.size / width, width, mean);
        });
    });
}

void bag_numbers(Array y, ConstArray index, const Bags& bags, Stream stream) {
    if (y.size == 0) return;
    launch("bag_numbers", bag_numbers_kernel, grid_for(y.size), stream,
           static_cast<std::int64_t*>(y.data), static_cast<const std::int64_t*>(index.data), bags);
}

}  // namespace kernels::cuda
