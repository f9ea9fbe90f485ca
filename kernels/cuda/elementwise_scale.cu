#include <cassert>
#include <cmath>
#include <cstring>

#include "cpu/scalar_convert.h"
#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "cuda/raw.h"
#include "kernels/elementwise.h"

namespace kernels::cuda {
namespace {

__device__ __forceinline__ float sum_of_products(float alpha, float a, float beta, float b) {
    return std::fma(alpha, a, beta * b);  // fused on the CPU too
}
__device__ __forceinline__ double sum_of_products(double alpha, double a, double beta, double b) {
    return alpha * a + beta * b;
}

template <typename T>
__global__ void axpby_kernel(T* y, const T* a, const T* b, Compute<T> alpha, Compute<T> beta,
                             std::int64_t packs, std::int64_t n) {
    const Operand<T> left{a, false}, right{b, false};
    map_packs<pack_width<T>>(y, left, right, packs, n, [=](T u, T v) {
        return narrow<T>(sum_of_products(alpha, widen(u), beta, widen(v)));
    });
}

template <typename T>
__global__ void scale_by_kernel(T* y, const T* x, const float* scale, std::int64_t packs,
                                std::int64_t n) {
    const auto factor = static_cast<Compute<T>>(*scale);
    map_packs<pack_width<T>>(y, x, packs, n, [=](T v) { return narrow<T>(widen(v) * factor); });
}

template <typename T>
__global__ void fill_kernel(T* y, T value, std::int64_t packs, std::int64_t n) {
    for_each_pack<pack_width<T>>(packs, n, [&](std::int64_t at, auto wide) {
        Pack<T, wide()> out;
#pragma unroll
        for (int k = 0; k < wide(); ++k) out.at[k] = value;
        store_pack(y + at, out);
    });
}

/// One row after the other: y, x and bias in units of `width` elements, `cols` of them to a row. A
/// thread keeps its column from step to step, so that it divides once.
template <int width, typename T>
__global__ void add_bias_kernel(T* y, const T* x, const T* bias, bool relu, std::int64_t cols,
                                std::int64_t n) {
    const std::int64_t stride = grid_threads(), step = stride % cols;
    std::int64_t col = grid_thread() % cols;
    for (std::int64_t i = grid_thread(); i < n; i += stride) {
        const auto in = load_pack<width>(x + i * width);
        const auto add = load_pack<width>(bias + col * width);
        Pack<T, width> out;
#pragma unroll
        for (int k = 0; k < width; ++k) {
            const auto sum = widen(in.at[k]) + widen(add.at[k]);
            out.at[k] = narrow<T>(relu && sum <= 0 ? Compute<T>{0} : sum);
        }
        store_pack(y + i * width, out);
        col += step;
        if (col >= cols) col -= cols;
    }
}

template <int width, typename T>
void start_add_bias(Array y, ConstArray x, ConstArray bias, bool relu, Stream stream) {
    const std::int64_t cols = bias.size / width, n = x.size / bias.size * cols;
    launch("add_bias", add_bias_kernel<width, T>, grid_for(n), stream, static_cast<T*>(y.data),
           static_cast<const T*>(x.data), static_cast<const T*>(bias.data), relu, cols, n);
}

}  // namespace

void axpby(Array y, ConstArray a, ConstArray b, double alpha, double beta, Stream stream) {
    assert(a.size == y.size && b.size == y.size && a.dtype == y.dtype && b.dtype == y.dtype);
    if (y.size == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        auto* to = static_cast<T*>(y.data);
        const auto *left = static_cast<const T*>(a.data), *right = static_cast<const T*>(b.data);
        const std::int64_t packs = packs_in<width>(y.size, to, left, right);
        launch("axpby", axpby_kernel<T>, grid_of_packs<width>(packs, y.size), stream, to, left,
               right, static_cast<Compute<T>>(alpha), static_cast<Compute<T>>(beta), packs, y.size);
    });
}

void scale_by(Array y, ConstArray x, const float* scale, Stream stream) {
    assert(x.size == y.size && x.dtype == y.dtype);
    if (y.size == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        const std::int64_t packs = packs_in<width>(y.size, to, from);
        launch("scale_by", scale_by_kernel<T>, grid_of_packs<width>(packs, y.size), stream, to,
               from, scale, packs, y.size);
    });
}

void fill(Array y, double value, Stream stream) {
    if (y.size == 0) return;
    std::uint64_t bits = 0;
    cpu::with_type(y.dtype, [&](auto type) {
        const auto stored = cpu::narrow<decltype(type)>(value);
        std::memcpy(&bits, &stored, sizeof stored);
    });
    with_raw(y.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        auto* to = static_cast<T*>(y.data);
        const std::int64_t packs = packs_in<width>(y.size, to);
        launch("fill", fill_kernel<T>, grid_of_packs<width>(packs, y.size), stream, to,
               static_cast<T>(bits), packs, y.size);
    });
}

void add_bias(Array y, ConstArray x, ConstArray bias, bool relu, Stream stream) {
    assert(x.size == y.size && x.dtype == y.dtype && bias.dtype == y.dtype);
    if (bias.size == 0 || x.size < bias.size) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        const bool packed =
            packs_in<width>(bias.size, static_cast<const T*>(y.data), static_cast<const T*>(x.data),
                            static_cast<const T*>(bias.data)) > 0;
        if (packed && bias.size % width == 0)
            start_add_bias<width, T>(y, x, bias, relu, stream);
        else
            start_add_bias<1, T>(y, x, bias, relu, stream);
    });
}

}  // namespace kernels::cuda
