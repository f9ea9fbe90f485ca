#pragma once

#include "cuda/multi_tensor_update.cuh"
#include "cuda/workspace.h"

/// Sums over the elements of tensors, chunk by chunk in a fixed order, and the factors that updates
/// derive from them; nothing of it leaves the device.
namespace kernels::cuda {

/// Sums of a chunk from which norms are made.
struct Sums {
    double weight;   ///< squares
    double other;    ///< squares, of the gradient or the direction
    double largest;  ///< of the gradient's magnitudes; NaN if one is
};

/// Results of the passes before an update, in one workspace.
struct UpdateScratch {
    UpdateScratch(std::span<const UpdateTensor> tensors, Stream stream);

    std::int64_t chunks = 0;              ///< of all tensors, list after list
    Sums* sums = nullptr;                 ///< one a chunk
    GradientValues* gradients = nullptr;  ///< one a tensor
    double* of_tensor = nullptr;          ///< one a tensor
    double* divisor = nullptr;            ///< LAMB's
};

struct LargestOrNan {
    __device__ __forceinline__ double operator()(double a, double b) const {
        return a != a || a > b ? a : b;
    }
};

/// Joins the threads' sums; every thread gets them.
__device__ __forceinline__ Sums of_block(const Sums& mine) {
    return {block_reduce<update_threads>(mine.weight, Sum()),
            block_reduce<update_threads>(mine.other, Sum()),
            block_reduce<update_threads>(mine.largest, LargestOrNan())};
}

/// The sums of chunks [first, first + count), in a fixed order; all threads call and get them.
__device__ __forceinline__ Sums of_chunks(const Sums* sums, std::int64_t first,
                                          std::int64_t count) {
    Sums mine{};
    for (std::int64_t i = threadIdx.x; i < count; i += update_threads) {
        const Sums& more = sums[first + i];
        mine.weight += more.weight;
        mine.other += more.other;
        mine.largest = LargestOrNan()(mine.largest, more.largest);
    }
    return of_block(mine);
}

/// The chunks of a list's tensor.
__device__ __forceinline__ Sums of_tensor(const Sums* sums, const UpdateList& list, int t) {
    const std::uint32_t end =
        t + 1 < list.chunks.tensors ? list.chunks.first[t + 1] : list.chunks.total;
    return of_chunks(sums, list.chunks.first[t], end - list.chunks.first[t]);
}

/// The values that LARC gives each tensor's gradient (known.gradients); none where it is off.
Known larc_values(std::span<const UpdateTensor> tensors, const UpdateScratch& scratch,
                  const UpdateScalars& scalars, double weight_decay, Stream stream);

/// Fills scratch.sums with those of each chunk's weights and gradients, as the optimizer sees them.
void gradient_sums(std::span<const UpdateTensor> tensors, const UpdateScratch& scratch,
                   const UpdateScalars& scalars, const Known& known, Stream stream);

}  // namespace kernels::cuda
