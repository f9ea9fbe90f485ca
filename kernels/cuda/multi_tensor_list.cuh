#pragma once

#include "cuda/convert.cuh"
#include "cuda/device_math.cuh"
#include "cuda/launch.cuh"
#include "cuda/pack.cuh"

/// Many tensors in one launch: a list of them is a kernel's parameter, and its blocks share their
/// chunks of elements.
namespace kernels::cuda {

constexpr int chunk_size = 4096;

/// Where the chunks of each of at most `most` tensors begin, in a count over all of them.
template <int most>
struct Chunks {
    std::int64_t size[most];
    std::uint32_t first[most];
    std::uint32_t total = 0;
    int tensors = 0;

    bool full() const { return tensors == most; }
    /// The tensor's place in the list. n > 0.
    int add(std::int64_t n) {
        size[tensors] = n;
        first[tensors] = total;
        total += static_cast<std::uint32_t>((n + chunk_size - 1) / chunk_size);
        return tensors++;
    }
    __device__ __forceinline__ int tensor_of(std::uint32_t chunk) const {
        int low = 0, high = tensors - 1;  // the last that begins at or before the chunk
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (first[middle] <= chunk)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
};

/// body(tensor, i, n) for n <= width neighbours from element i on, all of a list's. The threads of
/// a block get the same tensor.
template <int width, int most, typename Body>
__device__ __forceinline__ void for_each_run(const Chunks<most>& chunks, const Body& body) {
    for (std::uint32_t chunk = blockIdx.x; chunk < chunks.total; chunk += gridDim.x) {
        const int tensor = chunks.tensor_of(chunk);
        const std::int64_t begin =
            static_cast<std::int64_t>(chunk - chunks.first[tensor]) * chunk_size;
        const std::int64_t left = chunks.size[tensor] - begin;
        const int n = left < chunk_size ? static_cast<int>(left) : chunk_size;
        const int stride = width * static_cast<int>(blockDim.x);
        for (int i = width * static_cast<int>(threadIdx.x); i < n; i += stride)
            body(tensor, begin + i, n - i < width ? n - i : width);
    }
}

/// *flag = 1 if any thread has found something; all threads of the block call. Atomic, since
/// several blocks may write; once a warp, so that a step full of infinities does not serialise on
/// it.
__device__ __forceinline__ void raise_flag(float* flag, bool found) {
    if (__any_sync(0xffffffffu, found) && threadIdx.x % warp_size == 0) atomicExch(flag, 1.0f);
}

template <int most>
Grid grid_of(const Chunks<most>& chunks) {
    return {std::min<std::int64_t>(chunks.total, std::int64_t{multiprocessors()} * 8),
            default_threads};
}

/// n <= width elements from `at` on; in one access where they are whole and aligned. The rest of
/// `out` is 0.
template <typename T, typename W, int width>
__device__ __forceinline__ void load_run(W (&out)[width], const T* at, int n) {
    if (n == width && reinterpret_cast<std::uintptr_t>(at) % alignof(Pack<T, width>) == 0) {
        const Pack<T, width> pack = load_pack<width>(at);
        for (int k = 0; k < width; ++k) out[k] = static_cast<W>(widen(pack.at[k]));
    } else {
        for (int k = 0; k < width; ++k) out[k] = k < n ? static_cast<W>(widen(at[k])) : W{0};
    }
}
template <typename T, typename W, int width>
__device__ __forceinline__ void store_run(T* at, const W (&values)[width], int n) {
    if (n == width && reinterpret_cast<std::uintptr_t>(at) % alignof(Pack<T, width>) == 0) {
        Pack<T, width> pack;
        for (int k = 0; k < width; ++k) pack.at[k] = narrow<T>(values[k]);
        store_pack(at, pack);
    } else {
        for (int k = 0; k < width; ++k)
            if (k < n) at[k] = narrow<T>(values[k]);
    }
}

}  // namespace kernels::cuda
