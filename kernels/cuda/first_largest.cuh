#pragma once

#include "cuda/block_reduce.cuh"

namespace kernels::cuda {

/// An element in a search for the first largest, and its place; index -1: none yet.
template <typename V>
struct Candidate {
    V value;
    std::int64_t index;

    /// Whether b goes before this one: NaN is largest, and of equals the first wins. The order of
    /// comparisons has no effect.
    __device__ __forceinline__ bool loses_to(const Candidate& b) const {
        if (b.index < 0 || index < 0) return b.index >= 0;
        const bool nan = value != value, other_nan = b.value != b.value;
        if (nan != other_nan) return other_nan;
        if (nan || b.value == value) return b.index < index;
        return b.value > value;
    }
    __device__ __forceinline__ void take(const Candidate& b) {
        if (loses_to(b)) *this = b;
    }
    /// The best of a whole warp, for each of its lanes.
    __device__ __forceinline__ void take_from_warp() {
        for (int bits = warp_size / 2; bits > 0; bits /= 2) {
            const Candidate other{static_cast<V>(__shfl_xor_sync(whole_warp, value, bits)),
                                  __shfl_xor_sync(whole_warp, index, bits)};
            take(other);
        }
    }
};

}  // namespace kernels::cuda
