#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cuda/launch.cuh"
#include "kernels/cuda_copies.h"

namespace kernels::cuda {
namespace {

/// Bytes as an argument of the kernel. Kernel arguments are limited to 4 KiB in total.
struct Parcel {
    static constexpr std::size_t most = 3840;
    unsigned char bytes[most];
};

__global__ void put_bytes_kernel(unsigned char* to, Parcel parcel, int count) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
        to[i] = parcel.bytes[i];
}

}  // namespace

void put_bytes(void* device, const void* host, std::size_t bytes, Stream stream) {
    auto* to = static_cast<unsigned char*>(device);
    const auto* from = static_cast<const unsigned char*>(host);
    for (std::size_t done = 0; done < bytes; done += Parcel::most) {
        const std::size_t count = std::min(bytes - done, Parcel::most);
        Parcel parcel{};
        std::memcpy(parcel.bytes, from + done, count);
        // Whole warps, with some eight bytes for each thread.
        const int warps = static_cast<int>(count / (8 * warp_size)) + 1;
        const int threads = std::min(warps * warp_size, default_threads);
        launch("put_bytes", put_bytes_kernel, Grid{1, threads}, stream, to + done, parcel,
               static_cast<int>(count));
    }
}

}  // namespace kernels::cuda
