#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "kernels/exponent_histogram.h"
#include "shared/exponent_histogram.h"

namespace kernels::cuda {
namespace {

using Word = unsigned long long;  // what 64-bit atomics take

struct LargerWord {
    __device__ Word operator()(Word a, Word b) const { return a > b ? a : b; }
};

/// Each warp has its own counters: the values of a tensor share few exponents, so the warps of a
/// block would contend for them.
constexpr int warps = default_threads / warp_size;

/// A thread's values: a slot each, and the extremes.
struct Extremes {
    Word largest = 0;
    Word smallest_inverted = 0;

    __device__ __forceinline__ int add(float value) {
        const std::uint32_t bits = __float_as_uint(value) & 0x7fffffffu;
        return add(slot_of(bits), static_cast<double>(__uint_as_float(bits)));
    }
    __device__ __forceinline__ int add(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value) & 0x7fffffffffffffffu;
        return add(slot_of(bits), std::bit_cast<double>(bits));
    }

private:
    __device__ __forceinline__ int add(int slot, double magnitude) {
        if (slot < zero_slot || slot == below_slot) {
            const Word bits = std::bit_cast<std::uint64_t>(magnitude);
            largest = LargerWord{}(largest, bits);
            smallest_inverted = LargerWord{}(smallest_inverted, ~bits);
        }
        return slot;
    }
};

/// A block counts in 32 bits: a grid of multiprocessors covers fewer than 2^32 values a block for
/// every tensor that fits a card.
template <typename T>
__global__ void count_exponents_kernel(ExponentCounts* counts, const T* x, std::int64_t packs,
                                       std::int64_t n) {
    __shared__ unsigned held[warps][slot_count];
    for (int i = static_cast<int>(threadIdx.x); i < warps * slot_count; i += default_threads)
        held[i / slot_count][i % slot_count] = 0;
    __syncthreads();

    unsigned* const mine = held[static_cast<int>(threadIdx.x) / warp_size];
    Extremes extremes;
    for_each_pack<pack_width<T>>(packs, n, [&](std::int64_t at, auto wide) {
        const auto in = load_pack<wide()>(x + at);
#pragma unroll
        for (int k = 0; k < wide(); ++k) atomicAdd(mine + extremes.add(widen(in.at[k])), 1u);
    });
    const Word largest = block_reduce<default_threads>(extremes.largest, LargerWord{});
    const Word smallest = block_reduce<default_threads>(extremes.smallest_inverted, LargerWord{});

    // The reductions' barriers lie between the counts and here.
    for (int slot = static_cast<int>(threadIdx.x); slot < slot_count; slot += default_threads) {
        Word sum = 0;
        for (int warp = 0; warp < warps; ++warp) sum += held[warp][slot];
        if (sum != 0) atomicAdd(reinterpret_cast<Word*>(counter_of(counts, slot)), sum);
    }
    if (threadIdx.x != 0) return;
    atomicMax(reinterpret_cast<Word*>(&counts->largest), largest);
    atomicMax(reinterpret_cast<Word*>(&counts->smallest_inverted), smallest);
}

}  // namespace

void count_exponents(ExponentCounts* counts, ConstArray x, Stream stream) {
    if (x.size == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        const auto* from = static_cast<const T*>(x.data);
        const std::int64_t packs = packs_in<width>(x.size, from);
        launch("count_exponents", count_exponents_kernel<T>, grid_of_packs<width>(packs, x.size),
               stream, counts, from, packs, x.size);
    });
}

}  // namespace kernels::cuda
