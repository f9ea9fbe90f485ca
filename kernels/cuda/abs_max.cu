#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/multi_tensor_list.cuh"
#include "cuda/pack.cuh"
#include "kernels/elementwise.h"
#include "kernels/multi_tensor.h"

namespace kernels::cuda {
namespace {

struct Larger {
    __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

__device__ __forceinline__ unsigned magnitude_of(float value) {
    return __float_as_uint(value) & 0x7fffffffu;
}

/// Without the sign the bits of floats increase with the value, and NaN is above infinity, so an
/// integer maximum finds the largest and keeps NaN.
template <typename T>
__global__ void abs_max_kernel(unsigned* result, const T* x, std::int64_t packs, std::int64_t n) {
    unsigned most = 0;
    for_each_pack<pack_width<T>>(packs, n, [&](std::int64_t at, auto wide) {
        const auto in = load_pack<wide()>(x + at);
#pragma unroll
        for (int k = 0; k < wide(); ++k)
            most = Larger{}(most, magnitude_of(static_cast<float>(widen(in.at[k]))));
    });
    most = block_reduce<default_threads>(most, Larger{});
    if (threadIdx.x == 0) atomicMax(result, most);
}

constexpr int max_measured = 128;

struct MeasuredList {
    Chunks<max_measured> chunks;
    const Half* data[max_measured];
};
static_assert(sizeof(MeasuredList) + 128 <= 4096);

/// Largest magnitudes of several tensors.
__global__ void abs_max_list_kernel(unsigned* result, MeasuredList list) {
    constexpr int width = pack_width<Half>;
    unsigned most = 0;
    for_each_run<width>(list.chunks, [&](int tensor, std::int64_t i, int n) {
        float values[width];
        load_run(values, list.data[tensor] + i, n);
#pragma unroll
        for (int k = 0; k < width; ++k) most = Larger{}(most, magnitude_of(values[k]));
    });
    most = block_reduce<default_threads>(most, Larger{});
    if (threadIdx.x == 0) atomicMax(result, most);
}

}  // namespace

void multi_tensor_abs_max(float* result, std::span<const ConstArray> tensors, Stream stream) {
    MeasuredList list{};
    const auto measure = [&] {
        if (list.chunks.tensors > 0)
            launch("abs_max", abs_max_list_kernel, grid_of(list.chunks), stream,
                   reinterpret_cast<unsigned*>(result), list);
        list.chunks = {};
    };
    for (const ConstArray& tensor : tensors) {
        if (tensor.dtype != DType::f16)
            throw DeviceError("a CUDA kernel for f16 tensors was given others");
        if (tensor.size == 0) continue;
        list.data[list.chunks.add(tensor.size)] = static_cast<const Half*>(tensor.data);
        if (list.chunks.full()) measure();
    }
    measure();
}

void abs_max(float* result, ConstArray x, Stream stream) {
    if (x.size == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        const auto* from = static_cast<const T*>(x.data);
        const std::int64_t packs = packs_in<width>(x.size, from);
        launch("abs_max", abs_max_kernel<T>, grid_of_packs<width>(packs, x.size), stream,
               reinterpret_cast<unsigned*>(result), from, packs, x.size);
    });
}

}  // namespace kernels::cuda
