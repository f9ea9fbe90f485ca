#include "cuda/copy_small.h"

#include <algorithm>
#include <cstring>

#include "cuda/launch.cuh"
#include "cuda/pack.cuh"
#include "kernels/cuda_device.h"

namespace kernels::cuda {
namespace {

constexpr int copied_at_once = 16;

__global__ void copy_small_kernel(std::uint8_t* __restrict__ to,
                                  const std::uint8_t* __restrict__ from, std::int64_t packs,
                                  std::int64_t bytes) {
    for_each_pack<copied_at_once>(packs, bytes, [&](std::int64_t at, auto wide) {
        store_pack(to + at, load_pack<wide()>(from + at));
    });
}

}  // namespace

void copy_small(void* to, const void* from, std::size_t bytes, Stream stream) {
    if (bytes == 0) return;
    auto* out = static_cast<std::uint8_t*>(to);
    const auto* in = static_cast<const std::uint8_t*>(from);
    const auto n = static_cast<std::int64_t>(bytes);
    const std::int64_t packs = packs_in<copied_at_once>(n, out, in);
    launch("copy", copy_small_kernel, grid_of_packs<copied_at_once>(packs, n), stream, out, in,
           packs, n);
}

namespace {

/// Bytes as an argument of the kernel. Kernel arguments are limited to 4 KiB in total.
struct InlineData {
    static constexpr std::size_t most = 3840;
    unsigned char bytes[most];
};

__global__ void put_bytes_kernel(unsigned char* to, InlineData parcel, int count) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
        to[i] = parcel.bytes[i];
}

}  // namespace

void put_bytes(void* device, const void* host, std::size_t bytes, Stream stream) {
    auto* to = static_cast<unsigned char*>(device);
    const auto* from = static_cast<const unsigned char*>(host);
    for (std::size_t done = 0; done < bytes; done += InlineData::most) {
        const std::size_t count = std::min(bytes - done, InlineData::most);
        InlineData parcel{};
        std::memcpy(parcel.bytes, from + done, count);
        // Whole warps, with some eight bytes for each thread.
        const int warps = static_cast<int>(count / (8 * warp_size)) + 1;
        const int threads = std::min(warps * warp_size, default_threads);
        launch("put_bytes", put_bytes_kernel, Grid{1, threads}, stream, to + done, parcel,
               static_cast<int>(count));
    }
}

}  // namespace kernels::cuda
