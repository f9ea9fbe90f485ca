#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>

#include "kernels/array.h"

/// The part of CUDA C++ that the kernels use, for the host's compiler: their unchanged source runs
/// on a simulated device (simt/device.h). One block after the other; the threads of a block take
/// turns at barriers and warp operations, in an order that tests vary.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
// Blocks run one at a time, so one copy is enough. Rule for kernels: no other state is static.
#define __shared__ static

// As in CUDA's own headers; vector loads need the alignment.
struct uint3 {
    unsigned x, y, z;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

namespace kernels::simt {

struct Extent {
    std::int64_t blocks, blocks_y;
    int threads;
};

/// The position of the running thread.
struct Position {
    uint3 thread_index, block_index, block_extent, grid_extent;
};
extern Position position;

void enqueue_kernel(const char* name, const Extent& extent, Stream stream,
                    std::function<void()> body);

/// Barrier of the block, or of the warp (mask: the lanes that must take part; all: every lane that
/// exists).
void block_barrier();
void warp_barrier(unsigned mask);
/// Each lane provides eight bytes and reads those of lane `from`.
std::uint64_t exchange(unsigned mask, std::uint64_t mine, int from);
int lane();
/// A bit for each lane whose predicate is true.
unsigned ballot(unsigned mask, bool predicate);

/// Makes what the running thread has written visible to all blocks, as far as they have
/// synchronised with it.
void note_fence() noexcept;
/// Reports an atomic operation to the race detector.
void note_atomic(const void* at, std::size_t bytes);
#define HALFTONE_SIMT_UNWATCHED __attribute__((no_sanitize("thread")))

template <typename T>
T exchange_as(unsigned mask, T mine, int from) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &mine, sizeof(T));
    bits = exchange(mask, bits, from);
    std::memcpy(&mine, &bits, sizeof(T));
    return mine;
}

}  // namespace kernels::simt

#define threadIdx (::kernels::simt::position.thread_index)
#define blockIdx (::kernels::simt::position.block_index)
#define blockDim (::kernels::simt::position.block_extent)
#define gridDim (::kernels::simt::position.grid_extent)

inline void __syncthreads() { kernels::simt::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { kernels::simt::warp_barrier(mask); }
inline void __threadfence() { kernels::simt::note_fence(); }

template <typename T>
T __shfl_sync(unsigned mask, T value, int from) {
    return kernels::simt::exchange_as(mask, value, from & 31);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
    return kernels::simt::exchange_as(mask, value, kernels::simt::lane() ^ bits);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta) {
    const int from = kernels::simt::lane() + static_cast<int>(delta);
    return kernels::simt::exchange_as(mask, value, from > 31 ? kernels::simt::lane() : from);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return kernels::simt::ballot(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
    return kernels::simt::ballot(mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
    return kernels::simt::ballot(mask, predicate == 0) == 0;
}
inline int __popc(unsigned bits) { return std::popcount(bits); }

// Only one thread runs at a time, so plain reads and writes are atomic.
template <typename T, typename F>
HALFTONE_SIMT_UNWATCHED T simt_atomic(T* at, const F& changed) {
    kernels::simt::note_atomic(at, sizeof(T));
    const T before = *at;
    *at = changed(before);
    return before;
}
template <typename T>
T atomicAdd(T* at, T value) {
    return simt_atomic(at, [value](T before) { return static_cast<T>(before + value); });
}
template <typename T>
T atomicMax(T* at, T value) {
    return simt_atomic(at, [value](T before) { return before > value ? before : value; });
}
template <typename T>
T atomicOr(T* at, T value) {
    return simt_atomic(at, [value](T before) { return static_cast<T>(before | value); });
}
template <typename T>
T atomicExch(T* at, T value) {
    return simt_atomic(at, [value](T) { return value; });
}
template <typename T>
T atomicCAS(T* at, T expected, T value) {
    return simt_atomic(at, [=](T before) { return before == expected ? value : before; });
}

inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
/// By bisection, then Newton's method. Uses erfc above 1/2, which keeps its digits near 1.
inline double erfinv(double x) {
    if (!(std::fabs(x) < 1)) return x == 1 || x == -1 ? x * HUGE_VAL : std::nan("");
    const double size = std::fabs(x);
    double low = 0, high = 6;  // erfc(6) is 2e-17
    for (int i = 0; i < 40; ++i) {
        const double middle = (low + high) / 2;
        (std::erf(middle) < size ? low : high) = middle;
    }
    double y = size < 0.5 ? size * 0.886226925452758 : (low + high) / 2;
    for (int i = 0; i < 6; ++i) {
        const double error = size < 0.5 ? std::erf(y) - size : (1 - size) - std::erfc(y);
        y -= error * 0.886226925452758 * std::exp(y * y);
    }
    return std::copysign(y, x);
}
inline float erfinvf(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }
inline float normcdff(float x) {
    return static_cast<float>(0.5 * std::erfc(static_cast<double>(x) * -0.7071067811865476));
}
