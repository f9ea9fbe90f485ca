#pragma once

#include "cpu/pool_axis.h"
#include "cuda/convert.cuh"
#include "cuda/launch.cuh"
#include "cuda/pack.cuh"
#include "kernels/device_error.h"
#include "kernels/pool.h"

/// How threads share out the pixels of a pooling: blocks take lines, of the output (forward) or of
/// the input (backward), and a thread a pack of a pixel's channels.
namespace kernels::cuda {

using Axis = cpu::BasicPoolAxis<std::int32_t>;
using AxisTaps = Axis::Taps;

/// Both axes, and the sizes in elements.
struct PoolPlan {
    std::int64_t n, c;
    Axis rows, cols;
    bool count_padding;
    std::int64_t given_divisor;  // if not 0

    /// Divisor of the average of an output.
    __device__ __forceinline__ std::int64_t divisor(int oh, int ow) const {
        if (given_divisor != 0) return given_divisor;
        return static_cast<std::int64_t>(rows.count(oh, count_padding)) *
               cols.count(ow, count_padding);
    }
    __device__ __forceinline__ std::int64_t in_line() const { return cols.in() * c; }
    __device__ __forceinline__ std::int64_t out_line() const { return cols.out() * c; }
    __device__ __forceinline__ std::int64_t in_image() const { return rows.in() * in_line(); }
    __device__ __forceinline__ std::int64_t out_image() const { return rows.out() * out_line(); }
};

/// Throws DeviceError for lines of 2^31 elements.
inline PoolPlan plan_of(const Pool2dShape& s, bool adaptive) {
    const auto small = [](std::int64_t size) {
        if (size > 0x3fffffff) throw DeviceError("pooling: an image's side is beyond 2^30");
        return static_cast<std::int32_t>(size);
    };
    small(std::max({s.h, s.oh, std::max(s.w, s.ow) * s.c}));
    const auto axis = [&](std::int64_t in, std::int64_t out, std::int64_t kernel,
                          std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
        if (adaptive) return Axis::adaptive(small(in), small(out));
        return Axis::fixed(small(in), small(out), small(kernel), small(stride), small(pad),
                           small(dilation));
    };
    return {s.n,
            s.c,
            axis(s.h, s.oh, s.kernel_h, s.stride_h, s.pad_h, s.dilation_h),
            axis(s.w, s.ow, s.kernel_w, s.stride_w, s.pad_w, s.dilation_w),
            !adaptive && s.count_include_pad,
            adaptive ? 0 : s.divisor};
}

/// For lines of `packs` packs each.
inline Grid grid_of_lines(std::int64_t lines, std::int64_t packs) {
    const std::int64_t warps =
        std::min<std::int64_t>((packs + warp_size - 1) / warp_size, default_threads / warp_size);
    const int threads = static_cast<int>(std::max<std::int64_t>(warps, 1)) * warp_size;
    return {lines == 0 ? 0 : (packs + threads - 1) / threads, threads,
            std::min<std::int64_t>(lines, 65535)};
}

/// body(image, row, col, first channel) for every pack of `width` channels.
template <int width, typename Body>
__device__ __forceinline__ void for_each_pixel(std::int64_t images, int height, int pixels,
                                               std::int64_t channels, const Body& body) {
    const auto packs = static_cast<std::uint32_t>(channels / width);
    const std::uint32_t all = static_cast<std::uint32_t>(pixels) * packs;
    for (std::int64_t line = blockIdx.y; line < images * height; line += gridDim.y) {
        const std::int64_t image = line / height;
        const int row = static_cast<int>(line - image * height);
        for (std::uint32_t v = blockIdx.x * blockDim.x + threadIdx.x; v < all;
             v += gridDim.x * blockDim.x) {
            const std::uint32_t col = v / packs;
            body(image, row, static_cast<int>(col),
                 static_cast<std::int64_t>(v - col * packs) * width);
        }
    }
}

/// Whether packs of 16 bytes of T divide the channels and all the pointers are aligned for theirs.
template <typename T, typename... P>
bool pools_packs(std::int64_t channels, const P*... data) {
    constexpr int width = pack_width<T>;
    return channels % width == 0 && packs_in<width>(width, data...) > 0;
}

}  // namespace kernels::cuda
