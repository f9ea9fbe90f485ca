#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "kernels/elementwise.h"

namespace kernels::cuda {
namespace {

struct Larger {
    __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

/// Without the sign the bits of floats increase with the value, and NaN is above infinity, so an
/// integer maximum finds the largest and keeps NaN.
template <typename T>
__global__ void abs_max_kernel(unsigned* result, const T* x, std::int64_t packs, std::int64_t n) {
    unsigned most = 0;
    for_each_pack<pack_width<T>>(packs, n, [&](std::int64_t at, auto wide) {
        const auto in = load_pack<wide()>(x + at);
#pragma unroll
        for (int k = 0; k < wide(); ++k) {
            const auto value = static_cast<float>(widen(in.at[k]));
            most = Larger{}(most, __float_as_uint(value) & 0x7fffffffu);
        }
    });
    most = block_reduce<default_threads>(most, Larger{});
    if (threadIdx.x == 0) atomicMax(result, most);
}

}  // namespace

void abs_max(float* result, ConstArray x, Stream stream) {
    if (x.size == 0) return;
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        constexpr int width = pack_width<T>;
        const auto* from = static_cast<const T*>(x.data);
        const std::int64_t packs = packs_in<width>(x.size, from);
        launch("abs_max", abs_max_kernel<T>, grid_of_packs<width>(packs, x.size), stream,
               reinterpret_cast<unsigned*>(result), from, packs, x.size);
    });
}

}  // namespace kernels::cuda
