#include "kernels/embedding_bag.h"

#include <limits>

#include "cpu/index_fold.h"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

/// A thread an element of y.
template <typename T>
__global__ void embedding_bag_kernel(T* y, const T* table, const std::int64_t* index,
                                     const T* weights, Bags bags, std::int64_t rows,
                                     std::int64_t width, bool mean) {
    using W = Compute<T>;
    for (std::int64_t at = grid_thread(); at < bags.count * width; at += grid_threads()) {
        const std::int64_t bag = at / width, column = at - bag * width;
        const std::int64_t end = bags.end(bag);
        cpu::SumFold<W> sum;
        std::int64_t terms = 0;
        for (std::int64_t i = bags.begin(bag); i < end; ++i) {
            const std::int64_t row = index[i];
            if (row == bags.padding) continue;
            ++terms;
            const W weight = weights == nullptr ? W{1} : widen(weights[i]);
            sum.add(row >= 0 && row < rows ? weight * widen(table[row * width + column])
                                           : std::numeric_limits<W>::quiet_NaN());
        }
        const W divisor = mean && terms > 0 ? static_cast<W>(terms) : W{1};
        y[at] = narrow<T>(sum.value() / divisor);
    }
}

__global__ void bag_numbers_kernel(std::int64_t* y, const std::int64_t* index, Bags bags) {
    for (std::int64_t i = grid_thread(); i < bags.terms; i += grid_threads())
        y[i] = index[i] == bags.padding ? -1 : bags.bag_of(i);
}

}  // namespace

void embedding_bag(Array y, ConstArray table, ConstArray index, ConstArray weights,
                   const Bags& bags, std::int64_t width, bool mean, Stream stream) {
    if (y.size == 0) return;
    with_floating(y.dtype, [&](auto type) {
        using T = decltype(type);
        launch("embedding_bag", embedding_bag_kernel<T>, grid_for(y.size), stream,
               static_cast<T*>(y.data), static_cast<const T*>(table.data),
               static_cast<const std::int64_t*>(index.data), static_cast<const T*>(weights.data),
               bags, table.size / width, width, mean);
    });
}

void bag_numbers(Array y, ConstArray index, const Bags& bags, Stream stream) {
    if (y.size == 0) return;
    launch("bag_numbers", bag_numbers_kernel, grid_for(y.size), stream,
           static_cast<std::int64_t*>(y.data), static_cast<const std::int64_t*>(index.data), bags);
}

}  // namespace kernels::cuda
