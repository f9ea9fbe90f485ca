#include "kernels/dropout.h"

#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/pack.cuh"
#include "kernels/cuda_graph.h"
#include "kernels/device_error.h"

namespace kernels::cuda {
namespace {

/// The stream's numbers are multiples of 2^-24: those from `threshold` multiples on reach p.
std::uint32_t threshold_of(double p) {
    constexpr std::uint32_t none_reach = 1u << 24;
    if (!(p <= 1)) return none_reach;
    return p > 0 ? static_cast<std::uint32_t>(std::ceil(p * 0x1p24)) : 0;
}

/// A thread makes four words at a time, which belong to four neighbours; `skipped` of the first
/// belong to none.
__global__ void dropout_mask_kernel(std::uint8_t* mask, std::int64_t n, PhiloxStream random,
                                    const std::int64_t* substream, std::uint64_t first_block,
                                    int skipped, std::uint32_t threshold) {
    if (substream != nullptr) random.substream = static_cast<std::uint32_t>(*substream);
    const std::int64_t blocks = (n + skipped + 3) / 4;
    for (std::int64_t k = grid_thread(); k < blocks; k += grid_threads()) {
        const PhiloxBlock words = random.block(first_block + static_cast<std::uint64_t>(k));
        std::uint32_t kept = 0;  // a byte each
        for (std::uint32_t lane = 0; lane < 4; ++lane)
            kept |= (words[lane] >> 8 >= threshold ? 1u : 0u) << (8 * lane);
        const std::int64_t i = 4 * k - skipped;
        if (i >= 0 && i + 4 <= n && reinterpret_cast<std::uintptr_t>(mask + i) % 4 == 0) {
            *reinterpret_cast<std::uint32_t*>(mask + i) = kept;
            continue;
        }
        for (std::int64_t lane = 0; lane < 4; ++lane) {
            if (i + lane >= 0 && i + lane < n)
                mask[i + lane] = static_cast<std::uint8_t>(kept >> (8 * lane) & 1u);
        }
    }
}

template <typename T>
__global__ void dropout_apply_kernel(T* y, const T* x, const std::uint8_t* mask, Compute<T> scale,
                                     std::int64_t packs, std::int64_t n) {
    for_each_pack<pack_width<T>>(packs, n, [&](std::int64_t at, auto wide) {
        const auto in = load_pack<wide()>(x + at);
        const auto kept = load_pack<wide()>(mask + at);
        Pack<T, wide()> out;
#pragma unroll
        for (int k = 0; k < wide(); ++k)
            out.at[k] =
                narrow<T>(widen(in.at[k]) * static_cast<Compute<T>>(kept.at[k] != 0) * scale);
        store_pack(y + at, out);
    });
}

}  // namespace

void dropout_mask(Array mask, const MaskSource& source, double p, Stream stream) {
    if (mask.size == 0) return;
    if (source.substream == nullptr && capturing(stream))
        throw DeviceError("dropout_mask: a recorded step would draw the same mask in each replay");
    launch("dropout_mask", dropout_mask_kernel, grid_for(mask.size, 4), stream,
           static_cast<std::uint8_t*>(mask.data), mask.size, source.random, source.substream,
           source.offset / 4, static_cast<int>(source.offset % 4), threshold_of(p));
}

void dropout_apply(Array y, ConstArray x, ConstArray mask, double scale, Stream stream) {
    if (y.size == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        const auto* kept = static_cast<const std::uint8_t*>(mask.data);
        const std::int64_t packs = packs_in<width>(y.size, to, from, kept);
        launch("dropout_apply", dropout_apply_kernel<T>, grid_of_packs<width>(packs, y.size),
               stream, to, from, kept, static_cast<Compute<T>>(scale), packs, y.size);
    });
}

}  // namespace kernels::cuda
