#include "cuda/pool_lines.cuh"

namespace kernels::cuda {
namespace {

/// An index is h * W + w in 32 bits.
PoolPlan max_plan_of(const Pool2dShape& shape) {
    const PoolPlan plan = plan_of(shape, shape.adaptive);
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
    const PoolPlan plan = max_plan_of(shape);
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
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
    const PoolPlan plan = max_plan_of(shape);
    with_floating(dx.dtype, [&](auto type) {
        using T = decltype(type);
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
    const PoolPlan plan = max_plan_of(shape);
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        launch("max_pool2d_gather", gather_kernel<T>,
               grid_of_lines(shape.n * shape.oh, shape.ow * shape.c), stream,
               static_cast<T*>(y.data), static_cast<const T*>(x.data),
               static_cast<const std::int32_t*>(index.data), plan);
    });
}

}  // namespace kernels::cuda
