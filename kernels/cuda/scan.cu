#include "kernels/reduce.h"

#include <cassert>

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

constexpr int scan_threads = default_threads, scan_warps = scan_threads / warp_size;
constexpr int scan_items = 4;  ///< neighbours of one thread
constexpr std::int64_t scan_tile = scan_threads * scan_items;

/// The type that a recurrence runs in. Sums and products of integers wrap around, as those of
/// std::uint64_t do.
template <typename T>
struct ScanType {
    using type = Compute<T>;
};
template <>
struct ScanType<std::int64_t> {
    using type = std::uint64_t;
};
template <typename W, typename T>
__device__ __forceinline__ W scan_operand(T value) {
    if constexpr (std::is_same_v<W, std::uint64_t>)
        return static_cast<W>(value);
    else
        return widen(value);
}
template <typename To, typename W>
__device__ __forceinline__ To scan_result(W value) {
    if constexpr (std::is_same_v<W, std::uint64_t>)
        return static_cast<To>(value);
    else
        return narrow<To>(value);
}

/// The effect of a stretch of a row on the value before it: y = b + a * before. `sums`: there is a
/// b; `scales`: there is an a.
template <typename W, bool sums, bool scales>
struct Stretch {
    W a, b;

    __device__ __forceinline__ static Stretch nothing() { return {W{1}, W{0}}; }
    __device__ __forceinline__ Stretch then(const Stretch& next) const {
        return {scales ? a * next.a : W{1}, sums ? next.after(b) : W{0}};
    }
    __device__ __forceinline__ W after(W before) const {
        if constexpr (!scales) return b + before;
        return sums ? b + a * before : a * before;
    }
    /// At the beginning of a row.
    __device__ __forceinline__ W first() const { return sums ? b : a; }
};

/// A value on its way along a row: none before the first element.
template <typename S, typename W>
struct State {
    W value;
    bool begun;
    __device__ __forceinline__ void pass(const S& stretch) {
        value = begun ? stretch.after(value) : stretch.first();
        begun = true;
    }
};

template <typename S, typename W, typename From>
__device__ __forceinline__ S element(const From* a, const From* b, std::int64_t at) {
    S one = S::nothing();
    if (a) one.a = scan_operand<W>(a[at]);
    if (b) one.b = scan_operand<W>(b[at]);
    return one;
}

/// A block for each row, which it walks in tiles.
template <bool sums, bool scales, typename To, typename From>
__global__ void scan_row_kernel(To* y, const From* a, const From* b, std::int64_t n,
                                std::int64_t inner, std::int64_t rows, bool reverse) {
    using W = typename ScanType<From>::type;
    using S = Stretch<W, sums, scales>;
    __shared__ W of_warp_a[scan_warps];
    __shared__ W of_warp_b[scan_warps];
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % warp_size, warp = thread / warp_size;
    for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const std::int64_t first = row / inner * n * inner + row % inner;
        State<S, W> state{W{0}, false};
        for (std::int64_t begin = 0; begin < n; begin += scan_tile) {
            const std::int64_t mine = begin + static_cast<std::int64_t>(thread) * scan_items;
            const auto place = [&](int k) {
                return first + (reverse ? n - 1 - (mine + k) : mine + k) * inner;
            };
            S items[scan_items];
            S own = S::nothing();
#pragma unroll
            for (int k = 0; k < scan_items; ++k) {
                items[k] = mine + k < n ? element<S, W>(a, b, place(k)) : S::nothing();
                own = k == 0 ? items[k] : own.then(items[k]);
            }
            S through = own;  // of the warp, up to this thread
            for (int step = 1; step < warp_size; step *= 2) {
                const S before{__shfl_sync(whole_warp, through.a, lane - step),
                               __shfl_sync(whole_warp, through.b, lane - step)};
                if (lane >= step) through = before.then(through);
            }
            const S before{__shfl_sync(whole_warp, through.a, lane - 1),
                           __shfl_sync(whole_warp, through.b, lane - 1)};
            if (lane == warp_size - 1) {
                of_warp_a[warp] = through.a;
                of_warp_b[warp] = through.b;
            }
            __syncthreads();
            State<S, W> here = state;
            for (int w = 0; w < scan_warps; ++w) {
                if (w == warp) here = state;
                state.pass({of_warp_a[w], of_warp_b[w]});
            }
            if (lane > 0) here.pass(before);
#pragma unroll
            for (int k = 0; k < scan_items; ++k) {
                if (mine + k >= n) break;
                here.pass(items[k]);
                y[place(k)] = scan_result<To>(here.value);
            }
            __syncthreads();  // the next tile writes of_warp again
        }
    }
}

/// A thread for each row.
template <bool sums, bool scales, typename To, typename From>
__global__ void scan_thread_kernel(To* y, const From* a, const From* b, std::int64_t n,
                                   std::int64_t inner, std::int64_t rows, bool reverse) {
    using W = typename ScanType<From>::type;
    using S = Stretch<W, sums, scales>;
    for (std::int64_t row = grid_thread(); row < rows; row += grid_threads()) {
        const std::int64_t first = row / inner * n * inner + row % inner;
        State<S, W> state{W{0}, false};
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t at = first + (reverse ? n - 1 - k : k) * inner;
            state.pass(element<S, W>(a, b, at));
            y[at] = scan_result<To>(state.value);
        }
    }
}

template <bool sums, bool scales, typename To, typename From>
void start(Array y, ConstArray a, ConstArray b, std::int64_t outer, std::int64_t n,
           std::int64_t inner, bool reverse, Stream stream) {
    const std::int64_t rows = outer * inner;
    const auto* factors = static_cast<const From*>(a.data);
    const auto* terms = static_cast<const From*>(b.data);
    auto* results = static_cast<To*>(y.data);
    if (n <= 64 || rows >= 16384)
        launch("scan", scan_thread_kernel<sums, scales, To, From>, grid_for(rows), stream, results,
               factors, terms, n, inner, rows, reverse);
    else
        launch("scan", scan_row_kernel<sums, scales, To, From>,
               Grid{std::min<std::int64_t>(rows, 1 << 20), scan_threads}, stream, results, factors,
               terms, n, inner, rows, reverse);
}

template <typename To, typename From>
void start_kind(Array y, ConstArray a, ConstArray b, std::int64_t outer, std::int64_t n,
                std::int64_t inner, bool reverse, Stream stream) {
    if (!a.data)
        start<true, false, To, From>(y, a, b, outer, n, inner, reverse, stream);
    else if (!b.data)
        start<false, true, To, From>(y, a, b, outer, n, inner, reverse, stream);
    else
        start<true, true, To, From>(y, a, b, outer, n, inner, reverse, stream);
}

}  // namespace

void scan(Array y, ConstArray a, ConstArray b, std::int64_t outer, std::int64_t n,
          std::int64_t inner, bool reverse, Stream stream) {
    assert((!a.data || a.size == y.size) && (!b.data || b.size == y.size));
    assert(y.size == outer * n * inner);
    if (y.size == 0) return;
    if (y.dtype == DType::i64)
        return start_kind<std::int64_t, std::int64_t>(y, a, b, outer, n, inner, reverse, stream);
    with_floating(a.data ? a.dtype : b.dtype, [&]<typename From>(From) {
        if constexpr (sizeof(From) == 2) {
            if (y.dtype == DType::f32)
                return start_kind<float, From>(y, a, b, outer, n, inner, reverse, stream);
        }
        start_kind<From, From>(y, a, b, outer, n, inner, reverse, stream);
    });
}

}  // namespace kernels::cuda
