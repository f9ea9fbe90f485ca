#include "cuda/pool_lines.cuh"

namespace kernels::cuda {
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

void pool(const char* name, Array y, ConstArray x, const Pool2dShape& shape, const PoolPlan& plan,
          Stream stream) {
    with_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        constexpr int wide = pack_width<T>;
        const bool packed = pools_packs<T>(shape.c, to, from);
        launch(name, packed ? average_pool_kernel<T, wide> : average_pool_kernel<T, 1>,
               grid_of_lines(shape.n * shape.oh, shape.ow * shape.c / (packed ? wide : 1)), stream,
               to, from, plan);
    });
}

void unpool(const char* name, Array dx, ConstArray dy, const Pool2dShape& shape,
            const PoolPlan& plan, Stream stream) {
    with_floating(dx.dtype, [&](auto type) {
        using T = decltype(type);
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
    pool("avg_pool2d_forward", y, x, shape, plan_of(shape, false), stream);
}

void avg_pool2d_backward(Array dx, ConstArray dy, const Pool2dShape& shape, Stream stream) {
    unpool("avg_pool2d_backward", dx, dy, shape, plan_of(shape, false), stream);
}

void adaptive_avg_pool2d_forward(Array y, ConstArray x, const Pool2dShape& shape, Stream stream) {
    pool("adaptive_avg_pool2d_forward", y, x, shape, plan_of(shape, true), stream);
}

void adaptive_avg_pool2d_backward(Array dx, ConstArray dy, const Pool2dShape& shape,
                                  Stream stream) {
    unpool("adaptive_avg_pool2d_backward", dx, dy, shape, plan_of(shape, true), stream);
}

}  // namespace kernels::cuda
