#pragma once

#include "cuda/block_reduce.cuh"

/// Choosing the smallest of many keys by one block, in the order of their places.
namespace kernels::cuda {

/// How many threads before this one have `flag`; `all`: how many have it. All threads of a block
/// call.
template <int threads>
__device__ __forceinline__ int block_offset(bool flag, int& all) {
    constexpr int warps = threads / warp_size;
    __shared__ int of_warp[warps];
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const unsigned votes = __ballot_sync(whole_warp, flag);
    if (lane == 0) of_warp[warp] = __popc(votes);
    __syncthreads();
    int before = __popc(votes & ((1u << lane) - 1));
    all = 0;
    for (int w = 0; w < warps; ++w) {
        if (w < warp) before += of_warp[w];
        all += of_warp[w];
    }
    __syncthreads();  // the next call writes of_warp again
    return before;
}

/// Cut of the counted keys: those below `limit` are chosen, and of those that equal it the first
/// `ties`.
struct KeyCut {
    std::uint32_t limit;
    std::int64_t ties;
    std::int64_t taken;  ///< how many are chosen
};

/// Where the `want` smallest of n keys end. key_of(i, key) gives key i, and false if it does not
/// count. A radix select: three passes, each over one digit of all keys. All threads of a block
/// call and get the result.
template <int threads, typename KeyOf>
__device__ KeyCut find_cut(std::int64_t n, std::int64_t want, const KeyOf& key_of) {
    constexpr int bins = 2048, chunk = 32;  // 11 bits
    static_assert(threads >= bins / chunk);
    __shared__ unsigned counts[bins];
    __shared__ unsigned of_chunk[bins / chunk];
    __shared__ std::uint32_t chosen;
    __shared__ std::int64_t left, total;
    const int thread = static_cast<int>(threadIdx.x);
    std::uint32_t prefix = 0, known = 0;
    for (const int shift : {21, 10, 0}) {
        for (int bin = thread; bin < bins; bin += threads) counts[bin] = 0;
        __syncthreads();
        for (std::int64_t i = thread; i < n; i += threads) {
            std::uint32_t key;
            if (key_of(i, key) && (key & known) == prefix)
                atomicAdd(&counts[key >> shift & (bins - 1)], 1u);
        }
        __syncthreads();
        if (thread < bins / chunk) {
            unsigned sum = 0;
            for (int i = 0; i < chunk; ++i) sum += counts[thread * chunk + i];
            of_chunk[thread] = sum;
        }
        __syncthreads();
        if (thread == 0) {
            if (known == 0) {
                total = 0;
                for (int i = 0; i < bins / chunk; ++i) total += of_chunk[i];
                left = want;
            }
            int at = 0;
            while (at < bins / chunk - 1 && left > of_chunk[at]) left -= of_chunk[at++];
            int bin = at * chunk;
            while (bin < (at + 1) * chunk - 1 && left > counts[bin]) left -= counts[bin++];
            chosen = static_cast<std::uint32_t>(bin);
        }
        __syncthreads();
        if (want <= 0) return {0, 0, 0};
        if (total <= want) return {0xffffffffu, n, total};
        prefix |= chosen << shift;
        known |= static_cast<std::uint32_t>(bins - 1) << shift;
    }
    const KeyCut cut{prefix, left, want};
    __syncthreads();  // the next call writes `left` again
    return cut;
}

/// Calls f(i, which) for the chosen keys: `which` is the number of those before. All threads of a
/// block call.
template <int threads, typename KeyOf, typename F>
__device__ void for_each_chosen(std::int64_t n, const KeyCut& cut, const KeyOf& key_of,
                                const F& f) {
    std::int64_t ties = 0, chosen = 0;
    for (std::int64_t first = 0; first < n; first += threads) {
        const std::int64_t i = first + threadIdx.x;
        std::uint32_t key = 0;
        const bool counts = i < n && key_of(i, key), equal = counts && key == cut.limit;
        int all;
        const int tie = block_offset<threads>(equal, all);
        const bool taken = (counts && key < cut.limit) || (equal && ties + tie < cut.ties);
        ties += all;
        const int place = block_offset<threads>(taken, all);
        if (taken) f(i, chosen + place);
        chosen += all;
    }
}

}  // namespace kernels::cuda
