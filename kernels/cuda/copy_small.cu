#include "cuda/copy_small.h"

#include "cuda/pack.cuh"

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

}  // namespace kernels::cuda
