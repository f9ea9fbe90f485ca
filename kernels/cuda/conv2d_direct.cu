#include "cuda/conv2d_direct.h"

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

/// The shape with its derived extents; groups as channels of one group; and the distances of x's
/// pixels and of a weight's neighbours along c, r and s.
struct Extents {
    std::int64_t n, c, h, w, k, r, s, oh, ow, group_c, group_k, x_pitch;
    std::int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
    std::int64_t weight_c, weight_r, weight_s;
};

Extents make_extents(const Conv2dShape& s) {
    const std::int64_t channels = s.c / s.groups;
    const bool last = s.channels_last_weights;
    return {s.n,
            s.c,
            s.h,
            s.w,
            s.k,
            s.r,
            s.s,
            s.oh(),
            s.ow(),
            channels,
            s.k / s.groups,
            s.x_pitch == 0 ? s.c : s.x_pitch,
            s.stride_h,
            s.stride_w,
            s.pad_h,
            s.pad_w,
            s.dilation_h,
            s.dilation_w,
            last ? 1 : s.r * s.s,
            last ? s.s * channels : s.s,
            last ? channels : 1};
}

/// Where a weight lies; c within its group.
__device__ __forceinline__ std::int64_t weight_at(const Extents& e, std::int64_t k, std::int64_t c,
                                                  std::int64_t r, std::int64_t s) {
    return k * e.group_c * e.r * e.s + c * e.weight_c + r * e.weight_r + s * e.weight_s;
}

/// Position of an element of an NHWC image.
struct Position {
    std::int64_t n, h, w, c;
};
__device__ __forceinline__ Position position(std::int64_t i, std::int64_t h, std::int64_t w,
                                             std::int64_t c) {
    Position at;
    at.c = i % c;
    i /= c;
    at.w = i % w;
    i /= w;
    at.h = i % h;
    at.n = i / h;
    return at;
}

/// A thread for each element of y.
template <typename T>
__global__ void forward_kernel(T* y, const T* x, const T* w, const T* bias, Extents e) {
    const std::int64_t size = e.n * e.oh * e.ow * e.k;
    for (std::int64_t i = grid_thread(); i < size; i += grid_threads()) {
        const Position at = position(i, e.oh, e.ow, e.k);
        const std::int64_t first_c = at.c / e.group_k * e.group_c;
        Compute<T> sum = 0;
        for (std::int64_t r = 0; r < e.r; ++r) {
            const std::int64_t h = at.h * e.stride_h - e.pad_h + r * e.dilation_h;
            if (h < 0 || h >= e.h) continue;
            for (std::int64_t s = 0; s < e.s; ++s) {
                const std::int64_t v = at.w * e.stride_w - e.pad_w + s * e.dilation_w;
                if (v < 0 || v >= e.w) continue;
                const T* pixel = x + ((at.n * e.h + h) * e.w + v) * e.x_pitch + first_c;
                const T* weight = w + weight_at(e, at.c, 0, r, s);
                for (std::int64_t c = 0; c < e.group_c; ++c)
                    sum += widen(pixel[c]) * widen(weight[c * e.weight_c]);
            }
        }
        if (bias) sum += widen(bias[at.c]);
        y[i] = narrow<T>(sum);
    }
}

/// Where along an axis the window lay whose element `tap` was the pixel; -1: nowhere.
__device__ __forceinline__ std::int64_t window_at(std::int64_t pixel, std::int64_t pad,
                                                  std::int64_t tap, std::int64_t dilation,
                                                  std::int64_t stride, std::int64_t windows) {
    const std::int64_t start = pixel + pad - tap * dilation;
    if (start < 0 || start % stride != 0) return -1;
    const std::int64_t window = start / stride;
    return window < windows ? window : -1;
}

/// A thread for each element of dx.
template <typename T>
__global__ void data_gradient_kernel(T* dx, const T* dy, const T* w, Extents e) {
    const std::int64_t size = e.n * e.h * e.w * e.c;
    for (std::int64_t i = grid_thread(); i < size; i += grid_threads()) {
        const Position at = position(i, e.h, e.w, e.c);
        const std::int64_t group = at.c / e.group_c, c = at.c - group * e.group_c;
        const std::int64_t first_k = group * e.group_k;
        Compute<T> sum = 0;
        for (std::int64_t r = 0; r < e.r; ++r) {
            const std::int64_t oh = window_at(at.h, e.pad_h, r, e.dilation_h, e.stride_h, e.oh);
            if (oh < 0) continue;
            for (std::int64_t s = 0; s < e.s; ++s) {
                const std::int64_t ow = window_at(at.w, e.pad_w, s, e.dilation_w, e.stride_w, e.ow);
                if (ow < 0) continue;
                const T* gradient = dy + ((at.n * e.oh + oh) * e.ow + ow) * e.k + first_k;
                const T* weight = w + weight_at(e, first_k, c, r, s);
                for (std::int64_t k = 0; k < e.group_k; ++k)
                    sum += widen(gradient[k]) * widen(weight[k * e.group_c * e.r * e.s]);
            }
        }
        dx[i] = narrow<T>(sum);
    }
}

/// A block for each element of dw: its threads share the windows, then their sums in a fixed tree.
template <typename T>
__global__ void weight_gradient_kernel(T* dw, const T* dy, const T* x, Extents e) {
    const std::int64_t element = blockIdx.x;
    const std::int64_t s = element % e.s, r = element / e.s % e.r;
    const std::int64_t c = element / (e.s * e.r) % e.group_c, k = element / (e.s * e.r * e.group_c);
    const std::int64_t channel = k / e.group_k * e.group_c + c;
    const std::int64_t windows = e.n * e.oh * e.ow;
    Compute<T> sum = 0;
    for (std::int64_t i = threadIdx.x; i < windows; i += default_threads) {
        const Position at = position(i, e.oh, e.ow, 1);
        const std::int64_t h = at.h * e.stride_h - e.pad_h + r * e.dilation_h;
        const std::int64_t v = at.w * e.stride_w - e.pad_w + s * e.dilation_w;
        if (h < 0 || h >= e.h || v < 0 || v >= e.w) continue;
        sum +=
            widen(dy[i * e.k + k]) * widen(x[((at.n * e.h + h) * e.w + v) * e.x_pitch + channel]);
    }
    sum = block_reduce<default_threads>(sum, Sum{});
    if (threadIdx.x == 0) dw[weight_at(e, k, c, r, s)] = narrow<T>(sum);
}

}  // namespace

void conv2d_forward_direct(Array y, ConstArray x, ConstArray w, ConstArray bias,
                           const Conv2dShape& shape, Stream stream) {
    if (y.size == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        launch("conv2d_forward", forward_kernel<T>, grid_for(y.size), stream,
               static_cast<T*>(y.data), static_cast<const T*>(x.data),
               static_cast<const T*>(w.data), static_cast<const T*>(bias.data),
               make_extents(shape));
    });
}

void conv2d_data_gradient_direct(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape,
                                 Stream stream) {
    if (dx.size == 0) return;
    with_floating(dx.dtype, [&]<typename T>(T) {
        launch("conv2d_data_gradient", data_gradient_kernel<T>, grid_for(dx.size), stream,
               static_cast<T*>(dx.data), static_cast<const T*>(dy.data),
               static_cast<const T*>(w.data), make_extents(shape));
    });
}

void conv2d_weight_gradient_direct(Array dw, ConstArray dy, ConstArray x, const Conv2dShape& shape,
                                   Stream stream) {
    if (dw.size == 0) return;
    with_floating(dw.dtype, [&]<typename T>(T) {
        const Grid grid{dw.size, default_threads};
        launch("conv2d_weight_gradient", weight_gradient_kernel<T>, grid, stream,
               static_cast<T*>(dw.data), static_cast<const T*>(dy.data),
               static_cast<const T*>(x.data), make_extents(shape));
    });
}

}  // namespace kernels::cuda
