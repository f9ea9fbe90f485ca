#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>

#include "cuda/pack.cuh"
#include "cuda/raw.h"
#include "kernels/cuda_device.h"
#include "kernels/elementwise.h"

namespace kernels::cuda {
namespace {

struct Axis {
    std::int64_t size, y, x;  ///< elements and strides
};

struct Axes {
    std::array<Axis, max_rank> axis;
    int rank = 0;

    Axis& operator[](int k) { return axis[static_cast<std::size_t>(k)]; }
    const Axis& operator[](int k) const { return axis[static_cast<std::size_t>(k)]; }
    std::int64_t count() const {
        std::int64_t n = 1;
        for (int k = 0; k < rank; ++k) n *= (*this)[k].size;
        return n;
    }
};

/// The axes longer than 1, those with the largest stride of y first, neighbours joined where both
/// sides run through them as through one; at least one axis.
Axes simplified(const Strided& y, const ConstStrided& x) {
    Axes axes;
    for (int i = 0; i < y.rank; ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (y.shape[k] != 1) axes[axes.rank++] = {y.shape[k], y.strides[k], x.strides[k]};
    }
    std::stable_sort(axes.axis.begin(), axes.axis.begin() + axes.rank,
                     [](const Axis& a, const Axis& b) { return std::abs(a.y) > std::abs(b.y); });
    Axes joined;
    for (int i = 0; i < axes.rank; ++i) {
        const Axis next = axes[i];
        if (joined.rank > 0) {
            Axis& last = joined[joined.rank - 1];
            if (last.y == next.size * next.y && last.x == next.size * next.x) {
                last = {last.size * next.size, next.y, next.x};
                continue;
            }
        }
        joined[joined.rank++] = next;
    }
    if (joined.rank == 0) joined[joined.rank++] = {1, 1, 1};
    return joined;
}

/// Takes two neighbours as one element for as long as the memory allows; returns its size, at most
/// 16 bytes.
std::size_t widened(Axes& axes, const void* y, const void* x, std::size_t size) {
    const auto aligned = [&](std::size_t to) {
        return reinterpret_cast<std::uintptr_t>(y) % to == 0 &&
               reinterpret_cast<std::uintptr_t>(x) % to == 0;
    };
    const auto even = [&] {
        for (int k = 0; k < axes.rank - 1; ++k)
            if (axes[k].y % 2 != 0 || axes[k].x % 2 != 0) return false;
        return axes[axes.rank - 1].size % 2 == 0;
    };
    Axis& last = axes[axes.rank - 1];
    if (last.y != 1 || last.x != 1) return size;
    while (size < 16 && even() && aligned(2 * size)) {
        size *= 2;
        last.size /= 2;
        for (int k = 0; k < axes.rank - 1; ++k) {
            axes[k].y /= 2;
            axes[k].x /= 2;
        }
    }
    return size;
}

/// For the device. Index is int32_t where all offsets fit.
template <typename Index>
struct DeviceAxes {
    int rank;
    std::make_unsigned_t<Index> size[max_rank];
    Index y[max_rank], x[max_rank];

    explicit DeviceAxes(const Axes& axes) : rank(axes.rank) {
        for (int k = 0; k < max_rank; ++k) {
            const Axis axis = k < rank ? axes[k] : Axis{1, 0, 0};
            size[k] = static_cast<std::make_unsigned_t<Index>>(axis.size);
            y[k] = static_cast<Index>(axis.y);
            x[k] = static_cast<Index>(axis.x);
        }
    }
};

template <typename Index>
struct Offsets {
    Index y = 0, x = 0;
};

/// Offsets of element i in the order of the first `rank` axes, the last running fastest.
template <typename Index>
__device__ __forceinline__ Offsets<Index> offsets(const DeviceAxes<Index>& axes, int rank,
                                                  std::make_unsigned_t<Index> i) {
    Offsets<Index> at;
#pragma unroll
    for (int k = max_rank - 1; k >= 0; --k) {
        if (k >= rank) continue;
        const auto rest = k > 0 ? i / axes.size[k] : 0;
        const auto here = static_cast<Index>(i - rest * axes.size[k]);
        at.y += here * axes.y[k];
        at.x += here * axes.x[k];
        i = rest;
    }
    return at;
}

template <typename T, typename Index>
__global__ void copy_strided_kernel(T* y, const T* x, DeviceAxes<Index> axes, std::int64_t n) {
    for (std::int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const auto at = offsets(axes, axes.rank, static_cast<std::make_unsigned_t<Index>>(i));
        y[at.y] = x[at.x];
    }
}

constexpr int tile = 32;

/// The last axis is y's, the one before it x's own fastest: through tiles in shared memory both
/// sides are read and written along it.
template <typename T>
__global__ void transpose_kernel(T* y, const T* x, DeviceAxes<std::int64_t> axes,
                                 std::int64_t tiles) {
    __shared__ T held[tile][tile + 1];
    const int lane = static_cast<int>(threadIdx.x) % tile;
    const int first = static_cast<int>(threadIdx.x) / tile;
    const int step = static_cast<int>(blockDim.x) / tile;
    const int last = axes.rank - 1;
    const auto rows = static_cast<std::int64_t>(axes.size[last - 1]);
    const auto cols = static_cast<std::int64_t>(axes.size[last]);
    const std::int64_t across = (cols + tile - 1) / tile, down = (rows + tile - 1) / tile;
    for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
        const std::int64_t col = i % across * tile, row = i / across % down * tile;
        const auto at = offsets(axes, last - 1, static_cast<std::uint64_t>(i / across / down));
        for (int k = first; k < tile; k += step) {
            if (row + lane < rows && col + k < cols)
                held[k][lane] =
                    x[at.x + (row + lane) * axes.x[last - 1] + (col + k) * axes.x[last]];
        }
        __syncthreads();
        for (int k = first; k < tile; k += step) {
            if (row + k < rows && col + lane < cols)
                y[at.y + (row + k) * axes.y[last - 1] + (col + lane) * axes.y[last]] =
                    held[lane][k];
        }
        __syncthreads();  // the next tile overwrites it
    }
}

/// Puts the axis that x runs through without gaps second last; false if there is none, or if tiles
/// would stay half empty.
bool bring_to_transpose(Axes& axes) {
    const Axis& last = axes[axes.rank - 1];
    if (last.y != 1 || last.x == 0 || std::abs(last.x) == 1 || last.size < tile / 2) return false;
    for (int k = 0; k < axes.rank - 1; ++k) {
        if (axes[k].x != 1 || axes[k].size < tile / 2) continue;
        const auto begin = axes.axis.begin();
        std::rotate(begin + k, begin + k + 1, begin + axes.rank - 1);
        return true;
    }
    return false;
}

bool fits_32_bits(const Axes& axes) {
    constexpr std::int64_t limit = std::int64_t{1} << 31;
    std::int64_t y = 0, x = 0;
    for (int k = 0; k < axes.rank; ++k) {
        y += (axes[k].size - 1) * std::abs(axes[k].y);
        x += (axes[k].size - 1) * std::abs(axes[k].x);
    }
    return axes.count() < limit && y < limit && x < limit;
}

template <typename T>
void start(void* y, const void* x, const Axes& axes, Stream stream) {
    auto* to = static_cast<T*>(y);
    const auto* from = static_cast<const T*>(x);
    const std::int64_t n = axes.count();
    if (fits_32_bits(axes))
        launch("copy_strided", copy_strided_kernel<T, std::int32_t>, grid_for(n), stream, to, from,
               DeviceAxes<std::int32_t>(axes), n);
    else
        launch("copy_strided", copy_strided_kernel<T, std::int64_t>, grid_for(n), stream, to, from,
               DeviceAxes<std::int64_t>(axes), n);
}

template <typename T>
void start_transpose(void* y, const void* x, const Axes& axes, Stream stream) {
    const Axis rows = axes[axes.rank - 2], cols = axes[axes.rank - 1];
    const std::int64_t batch = axes.count() / (rows.size * cols.size);
    const std::int64_t tiles =
        batch * ((rows.size + tile - 1) / tile) * ((cols.size + tile - 1) / tile);
    const Grid grid{grid_for(tiles * default_threads).blocks, default_threads};
    launch("copy_strided", transpose_kernel<T>, grid, stream, static_cast<T*>(y),
           static_cast<const T*>(x), DeviceAxes<std::int64_t>(axes), tiles);
}

}  // namespace

void copy_strided(Strided y, ConstStrided x, Stream stream) {
    assert(y.rank == x.rank && y.dtype == x.dtype);
    for (int i = 0; i < y.rank; ++i)
        if (y.shape[static_cast<std::size_t>(i)] == 0) return;
    Axes axes = simplified(y, x);
    std::size_t size = size_of(y.dtype);
    if (axes.rank == 1 && axes[0].y == 1 && axes[0].x == 1) {
        const auto bytes = static_cast<std::size_t>(axes[0].size) * size;
        copy_on_device(y.data, x.data, bytes, stream);
    } else if (bring_to_transpose(axes)) {
        with_raw(y.dtype,
                 [&](auto type) { start_transpose<decltype(type)>(y.data, x.data, axes, stream); });
    } else {
        size = widened(axes, y.data, x.data, size);
        if (size == 16)
            start<uint4>(y.data, x.data, axes, stream);
        else
            with_raw(size, [&](auto type) { start<decltype(type)>(y.data, x.data, axes, stream); });
    }
}

}  // namespace kernels::cuda
