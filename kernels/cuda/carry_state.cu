#include <cassert>

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"
#include "kernels/carry_state.h"

namespace kernels::cuda {
namespace {

struct Tensors {
    CarriedTensor of[CarriedTensor::most];
    int count = 0;
};

__device__ float value_of(const ConstArray& from, std::int64_t i) {
    switch (from.dtype) {
        case DType::f16:
            return widen(static_cast<const Half*>(from.data)[i]);
        case DType::bf16:
            return widen(static_cast<const BFloat16*>(from.data)[i]);
        case DType::f64:
            return static_cast<float>(static_cast<const double*>(from.data)[i]);
        default:
            return static_cast<const float*>(from.data)[i];
    }
}

/// Place of value k of a stream in a tensor.
__device__ std::int64_t place_of(const CarriedTensor& tensor, std::int64_t streams,
                                 std::int64_t stream, std::int64_t k) {
    return (k / tensor.width * streams + stream) * tensor.width + k % tensor.width;
}

/// A block a stream.
__global__ void carry_state_kernel(Tensors tensors, std::int64_t streams, std::int64_t* resets) {
    const auto stream = static_cast<std::int64_t>(blockIdx.x);
    int broken = 0;
    for (int t = 0; t < tensors.count; ++t) {
        const CarriedTensor& tensor = tensors.of[t];
        for (std::int64_t k = threadIdx.x; k < tensor.layers * tensor.width; k += blockDim.x)
            if (!std::isfinite(value_of(tensor.from, place_of(tensor, streams, stream, k))))
                broken = 1;
    }
    const bool reset = block_reduce<default_threads>(broken, Sum()) != 0;
    for (int t = 0; t < tensors.count; ++t) {
        const CarriedTensor& tensor = tensors.of[t];
        for (std::int64_t k = threadIdx.x; k < tensor.layers * tensor.width; k += blockDim.x) {
            const std::int64_t i = place_of(tensor, streams, stream, k);
            tensor.to[i] = reset ? 0.0f : value_of(tensor.from, i);
        }
    }
    if (reset && threadIdx.x == 0) atomicAdd(reinterpret_cast<unsigned long long*>(resets), 1ull);
}

}  // namespace

void carry_state(std::span<const CarriedTensor> tensors, std::int64_t streams, std::int64_t* resets,
                 Stream stream) {
    assert(tensors.size() <= CarriedTensor::most);
    if (streams == 0 || tensors.empty()) return;
    Tensors all;
    for (const CarriedTensor& tensor : tensors) all.of[all.count++] = tensor;
    launch("carry_state", carry_state_kernel, Grid{streams, default_threads}, stream, all, streams,
           resets);
}

}  // namespace kernels::cuda
