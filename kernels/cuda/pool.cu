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
inline PoolPlan make_pool_plan(const Pool2dShape& s, bool adaptive) {
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

/// A grid for lines of `packs` packs each.
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

namespace {

template <typename T, int width>
__global__ void average_pool_kernel(T* y, const T* x, PoolPlan plan) {
    using W = Compute<T>;
    for_each_pixel<width>(
        plan.n, plan.rows.out(), plan.cols.out(), plan.c,
        [&](std::int64_t n, int oh, int ow, std::int64_t c) {
            const AxisTaps rows = plan.rows.taps(oh), cols = plan.cols.taps(ow);
            const T* image = x + n * plan.in_image() + c;
            W sum[width] = {};
            for (int h = rows.first; h < rows.last; h += rows.step) {
                W line[width] = {};  // a sum a row keeps the error of large windows small
                for (int w = cols.first; w < cols.last; w += cols.step) {
                    const auto in = load_pack<width>(image + h * plan.in_line() + w * plan.c);
                    for (int k = 0; k < width; ++k) line[k] += widen(in.at[k]);
                }
                for (int k = 0; k < width; ++k) sum[k] += line[k];
            }
            const auto divisor = static_cast<W>(plan.divisor(oh, ow));
            Pack<T, width> out;
            for (int k = 0; k < width; ++k) out.at[k] = narrow<T>(sum[k] / divisor);
            store_pack(y + n * plan.out_image() + oh * plan.out_line() + ow * plan.c + c, out);
        });
}

template <typename T, int width>
__global__ void average_unpool_kernel(T* dx, const T* dy, PoolPlan plan) {
    using W = Compute<T>;
    for_each_pixel<width>(
        plan.n, plan.rows.in(), plan.cols.in(), plan.c,
        [&](std::int64_t n, int h, int w, std::int64_t c) {
            const AxisTaps rows = plan.rows.covering(h), cols = plan.cols.covering(w);
            W sum[width] = {};
            for (int oh = rows.first; oh < rows.last; oh += rows.step) {
                for (int ow = cols.first; ow < cols.last; ow += cols.step) {
                    const auto divisor = static_cast<W>(plan.divisor(oh, ow));
                    const auto g = load_pack<width>(dy + n * plan.out_image() +
                                                    oh * plan.out_line() + ow * plan.c + c);
                    for (int k = 0; k < width; ++k) sum[k] += widen(g.at[k]) / divisor;
                }
            }
            Pack<T, width> out;
            for (int k = 0; k < width; ++k) out.at[k] = narrow<T>(sum[k]);
            store_pack(dx + n * plan.in_image() + h * plan.in_line() + w * plan.c + c, out);
        });
}

void average_pool(const char* name, Array y, ConstArray x, const Pool2dShape& shape, const PoolPlan& plan,
          Stream stream) {
    with_floating(x.dtype, [&]<typename T>(T) {
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        constexpr int wide = pack_width<T>;
        const bool packed = pools_packs<T>(shape.c, to, from);
        launch(name, packed ? average_pool_kernel<T, wide> : average_pool_kernel<T, 1>,
               grid_of_lines(shape.n * shape.oh, shape.ow * shape.c / (packed ? wide : 1)), stream,
               to, from, plan);
    });
}

void average_unpool(const char* name, Array dx, ConstArray dy, const Pool2dShape& shape,
            const PoolPlan& plan, Stream stream) {
    with_floating(dx.dtype, [&]<typename T>(T) {
        auto* to = static_cast<T*>(dx.data);
        const auto* from = static_cast<const T*>(dy.data);
        constexpr int wide = pack_width<T>;
        const bool packed = pools_packs<T>(shape.c, to, from);
        launch(name, packed ? average_unpool_kernel<T, wide> : average_unpool_kernel<T, 1>,
               grid_of_lines(shape.n * shape.h, shape.w * shape.c / (packed ? wide : 1)), stream,
               to, from, plan);
    });
}

}  // namespace

void avg_pool2d_forward(Array y, ConstArray x, const Pool2dShape& shape, Stream stream) {
    average_pool("avg_pool2d_forward", y, x, shape, make_pool_plan(shape, false), stream);
}

void avg_pool2d_backward(Array dx, ConstArray dy, const Pool2dShape& shape, Stream stream) {
    average_unpool("avg_pool2d_backward", dx, dy, shape, make_pool_plan(shape, false), stream);
}

void adaptive_avg_pool2d_forward(Array y, ConstArray x, const Pool2dShape& shape, Stream stream) {
    average_pool("adaptive_avg_pool2d_forward", y, x, shape, make_pool_plan(shape, true), stream);
}

void adaptive_avg_pool2d_backward(Array dx, ConstArray dy, const Pool2dShape& shape,
                                  Stream stream) {
    average_unpool("adaptive_avg_pool2d_backward", dx, dy, shape, make_pool_plan(shape, true),
                   stream);
}

namespace {

/// An index is h * W + w in 32 bits.
PoolPlan make_max_pool_plan(const Pool2dShape& shape) {
    const PoolPlan plan = make_pool_plan(shape, shape.adaptive);
    if (shape.h * shape.w > 0x7fffffff)
        throw DeviceError("max pooling: an image of 2^31 pixels or more");
    return plan;
}

template <typename T, int width>
__global__ void max_pool_kernel(T* y, std::int32_t* index, const T* x, PoolPlan plan) {
    using W = Compute<T>;
    for_each_pixel<width>(
        plan.n, plan.rows.out(), plan.cols.out(), plan.c,
        [&](std::int64_t n, int oh, int ow, std::int64_t c) {
            const AxisTaps rows = plan.rows.taps(oh), cols = plan.cols.taps(ow);
            const T* image = x + n * plan.in_image() + c;
            W most[width] = {};
            Pack<std::int32_t, width> best;
            for (int k = 0; k < width; ++k) best.at[k] = -1;
            for (int h = rows.first; h < rows.last; h += rows.step) {
                for (int w = cols.first; w < cols.last; w += cols.step) {
                    const int place = h * plan.cols.in() + w;
                    const auto in = load_pack<width>(image + place * plan.c);
                    for (int k = 0; k < width; ++k) {
                        const W v = widen(in.at[k]);
                        // NaN is at most nothing, and only another NaN beats
                        // a NaN.
                        const bool loses = v <= most[k] || (most[k] != most[k] && v == v);
                        if (best.at[k] >= 0 && loses) continue;
                        most[k] = v;
                        best.at[k] = place;
                    }
                }
            }
            const std::int64_t at = n * plan.out_image() + oh * plan.out_line() + ow * plan.c + c;
            Pack<T, width> out;
            for (int k = 0; k < width; ++k) out.at[k] = narrow<T>(most[k]);
            store_pack(y + at, out);
            store_pack(index + at, best);
        });
}

/// Each input gathers from the outputs whose window contains it: no memory is zeroed or added to,
/// and the order of the sum is fixed.
template <typename T, int width>
__global__ void max_unpool_kernel(T* dx, const T* dy, const std::int32_t* index, PoolPlan plan) {
    using W = Compute<T>;
    for_each_pixel<width>(
        plan.n, plan.rows.in(), plan.cols.in(), plan.c,
        [&](std::int64_t n, int h, int w, std::int64_t c) {
            const AxisTaps rows = plan.rows.covering(h), cols = plan.cols.covering(w);
            const std::int32_t place = h * plan.cols.in() + w;
            W sum[width] = {};
            for (int oh = rows.first; oh < rows.last; oh += rows.step) {
                for (int ow = cols.first; ow < cols.last; ow += cols.step) {
                    const std::int64_t from =
                        n * plan.out_image() + oh * plan.out_line() + ow * plan.c + c;
                    const auto chosen = load_pack<width>(index + from);
                    const auto g = load_pack<width>(dy + from);
                    for (int k = 0; k < width; ++k)
                        if (chosen.at[k] == place) sum[k] += widen(g.at[k]);
                }
            }
            Pack<T, width> out;
            for (int k = 0; k < width; ++k) out.at[k] = narrow<T>(sum[k]);
            store_pack(dx + n * plan.in_image() + h * plan.in_line() + w * plan.c + c, out);
        });
}

template <typename T>
__global__ void gather_kernel(T* y, const T* x, const std::int32_t* index, PoolPlan plan) {
    for_each_pixel<1>(plan.n, plan.rows.out(), plan.cols.out(), plan.c,
                      [&](std::int64_t n, int oh, int ow, std::int64_t c) {
                          const std::int64_t at =
                              n * plan.out_image() + oh * plan.out_line() + ow * plan.c + c;
                          const std::int32_t place = index[at];
                          // A dilated window may have no tap inside the image.
                          y[at] = place < 0 ? narrow<T>(Compute<T>{})
                                            : x[n * plan.in_image() + place * plan.c + c];
                      });
}

}  // namespace

void max_pool2d_forward(Array y, Array index, ConstArray x, const Pool2dShape& shape,
                        Stream stream) {
    const PoolPlan plan = make_max_pool_plan(shape);
    with_floating(x.dtype, [&]<typename T>(T) {
        auto* to = static_cast<T*>(y.data);
        auto* places = static_cast<std::int32_t*>(index.data);
        const auto* from = static_cast<const T*>(x.data);
        constexpr int wide = pack_width<T>;
        const bool packed = pools_packs<T>(shape.c, to, places, from);
        launch("max_pool2d_forward", packed ? max_pool_kernel<T, wide> : max_pool_kernel<T, 1>,
               grid_of_lines(shape.n * shape.oh, shape.ow * shape.c / (packed ? wide : 1)), stream,
               to, places, from, plan);
    });
}

void max_pool2d_backward(Array dx, ConstArray dy, ConstArray index, const Pool2dShape& shape,
                         Stream stream) {
    const PoolPlan plan = make_max_pool_plan(shape);
    with_floating(dx.dtype, [&]<typename T>(T) {
        auto* to = static_cast<T*>(dx.data);
        const auto* from = static_cast<const T*>(dy.data);
        const auto* places = static_cast<const std::int32_t*>(index.data);
        constexpr int wide = pack_width<T>;
        const bool packed = pools_packs<T>(shape.c, to, from, places);
        launch("max_pool2d_backward", packed ? max_unpool_kernel<T, wide> : max_unpool_kernel<T, 1>,
               grid_of_lines(shape.n * shape.h, shape.w * shape.c / (packed ? wide : 1)), stream,
               to, from, places, plan);
    });
}

void max_pool2d_gather(Array y, ConstArray x, ConstArray index, const Pool2dShape& shape,
                       Stream stream) {
    const PoolPlan plan = make_max_pool_plan(shape);
    with_floating(x.dtype, [&]<typename T>(T) {
        launch("max_pool2d_gather", gather_kernel<T>,
               grid_of_lines(shape.n * shape.oh, shape.ow * shape.c), stream,
               static_cast<T*>(y.data), static_cast<const T*>(x.data),
               static_cast<const std::int32_t*>(index.data), plan);
    });
}

}  // namespace kernels::cuda
