#pragma once

#include <algorithm>
#include <limits>

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/pack.cuh"

/// Kernels that give each row to a team of threads: a warp, or a block of one row.
namespace kernels::cuda {

/// f(team) with the constant number of threads for rows of `cols`. No team of 1,024: with more than
/// 64 registers to a thread such a block could not start. In rows of up to 262,144 no thread adds
/// more than 128 packs, so that sums keep their precision.
template <typename F>
void with_team(std::int64_t cols, const F& f) {
    if (cols <= 1024)
        f(std::integral_constant<int, warp_size>{});
    else if (cols <= 16384)
        f(std::integral_constant<int, 256>{});
    else
        f(std::integral_constant<int, 512>{});
}

template <int team>
constexpr int teams_in_block = std::max(1, default_threads / team);

/// A grid for a loop over rows as `for_each_row` does it.
template <int team>
Grid grid_of_rows(std::int64_t rows) {
    const std::int64_t blocks = (rows + teams_in_block<team> - 1) / teams_in_block<team>;
    return {std::min<std::int64_t>(blocks, 1 << 20), team * teams_in_block<team>};
}

/// body(row, thread) for the team's rows, thread counted in the team. All threads of a team, a warp
/// or the block, do the same rows.
template <int team, typename Body>
__device__ __forceinline__ void for_each_row(std::int64_t rows, const Body& body) {
    const int thread = static_cast<int>(threadIdx.x);
    constexpr int teams = teams_in_block<team>;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * teams + thread / team;
         row < rows; row += static_cast<std::int64_t>(gridDim.x) * teams)
        body(row, thread % team);
}

template <int team, typename T, typename Combine>
__device__ __forceinline__ T team_reduce(T value, Combine combine) {
    if constexpr (team == warp_size)
        return warp_reduce(value, combine);
    else
        return block_reduce<team>(value, combine);
}

template <int width, typename T>
__device__ __forceinline__ bool fits_packs(const T* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(Pack<T, width>) == 0;
}

/// body(at, width) for every pack of a row if `packed`, else for every element, shared by the team.
template <int team, int width, typename Body>
__device__ __forceinline__ void for_each_part(std::int64_t cols, bool packed, int thread,
                                              const Body& body) {
    const std::int64_t packs = packed ? cols / width : 0;
    for (std::int64_t i = thread; i < packs; i += team)
        body(i * width, std::integral_constant<int, width>{});
    for (std::int64_t i = packs * width + thread; i < cols; i += team)
        body(i, std::integral_constant<int, 1>{});
}

/// out[c] = f(in[c], c); in place too.
template <int team, typename To, typename From, typename F>
__device__ __forceinline__ void map_row(To* out, const From* in, std::int64_t cols, int thread,
                                        const F& f) {
    constexpr int width = pack_width<To, From>;
    const bool packed = fits_packs<width>(out) && fits_packs<width>(in);
    for_each_part<team, width>(cols, packed, thread, [&](std::int64_t at, auto wide) {
        const auto values = load_pack<wide()>(in + at);
        Pack<To, wide()> results;
#pragma unroll
        for (int k = 0; k < wide(); ++k) results.at[k] = f(values.at[k], at + k);
        store_pack(out + at, results);
    });
}

struct Larger {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};

/// Scale that turns logits into probabilities.
template <typename W>
struct RowScale {
    W max, sum;
};

/// exp(x - max), 0 for -infinity even where that is the maximum so far.
template <typename W>
__device__ __forceinline__ W exp_below(W x, W max) {
    return x == -std::numeric_limits<W>::infinity() ? W{0} : std::exp(x - max);
}

/// The maximum and the sum of exponentials in one pass: each thread rescales its sum when it finds
/// a larger element (Milakov & Gimelshein 2018). A NaN in the row makes the sum NaN, whatever the
/// maximum is, and so does an infinite maximum; a row of -infinity has -infinity as its maximum.
/// All threads of the team get the result.
template <int team, typename T>
__device__ __forceinline__ RowScale<Compute<T>> row_scale(const T* x, std::int64_t cols,
                                                          int thread) {
    using W = Compute<T>;
    constexpr int width = pack_width<T>;
    RowScale<W> own{-std::numeric_limits<W>::infinity(), 0};
    for_each_part<team, width>(cols, fits_packs<width>(x), thread, [&](std::int64_t at, auto wide) {
        const auto values = load_pack<wide()>(x + at);
        W most = own.max;
#pragma unroll
        for (int k = 0; k < wide(); ++k) most = Larger{}(widen(values.at[k]), most);
        if (most > own.max) {
            own.sum *= exp_below(own.max, most);
            own.max = most;
        }
        W part = 0;
#pragma unroll
        for (int k = 0; k < wide(); ++k) part += exp_below(widen(values.at[k]), own.max);
        own.sum += part;
    });
    const W max = team_reduce<team>(own.max, Larger{});
    const W scaled = own.max == max ? own.sum : own.sum * exp_below(own.max, max);
    return {max, team_reduce<team>(scaled, Sum{})};
}

}  // namespace kernels::cuda
