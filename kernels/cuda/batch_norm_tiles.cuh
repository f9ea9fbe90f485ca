#pragma once

#include <limits>

#include "cuda/convert.cuh"
#include "cuda/device_math.cuh"
#include "cuda/launch.cuh"
#include "cuda/pack.cuh"

/// How a matrix of (rows, channels), channels innermost, is distributed to blocks. A thread stays
/// with its channels, so that their values stay in registers, and neighbouring threads read
/// neighbouring channels.
namespace kernels::cuda {

constexpr int tile_threads = default_threads;

struct Tiling {
    std::int64_t rows, channels;
    std::int64_t tiles;       ///< of `columns` threads' channels
    std::int64_t chunk_rows;  ///< of one block of a sum
    std::int64_t chunks;
    int columns;  ///< threads side by side, a power of two up to 32; the others take other rows
};

/// For threads with `width` channels each, which divides the channels; at most so many chunks.
inline Tiling tiling_of(std::int64_t rows, std::int64_t channels, int width,
                        std::int64_t most_chunks = std::numeric_limits<std::int64_t>::max()) {
    const std::int64_t packs = channels / width;
    int columns = 1;
    while (columns < 32 && columns < packs) columns *= 2;
    const std::int64_t tiles = (packs + columns - 1) / columns;
    const std::int64_t lanes = tile_threads / columns;
    // Some rows a thread, and blocks enough to fill the device.
    const std::int64_t most = std::max<std::int64_t>(
        1, std::int64_t{multiprocessors()} * 8 / std::max<std::int64_t>(tiles, 1));
    const std::int64_t wanted = std::min({most, (rows + 8 * lanes - 1) / (8 * lanes), most_chunks});
    const std::int64_t chunk_rows = wanted > 0 ? (rows + wanted - 1) / wanted : 1;
    return {rows, channels, tiles, chunk_rows, (rows + chunk_rows - 1) / chunk_rows, columns};
}
inline Grid grid_of(const Tiling& tiling) {
    return {tiling.chunks, tile_threads, std::min<std::int64_t>(tiling.tiles, 65535)};
}

/// For sums by channel. Each chunk leaves parts that a second kernel joins, so there are no more of
/// them than about one a multiprocessor, with enough loads in flight in each.
inline Tiling tiling_of_sums(std::int64_t rows, std::int64_t channels, int width) {
    constexpr std::int64_t most_chunks = 128;
    return tiling_of(rows, channels, width, most_chunks);
}

/// The tiling for adding up the chunks of `sums`, one block per tile. A tile has few channels, so
/// that many threads divide the chunks of a channel among them: each chunk is a load from memory.
inline Tiling joining(Tiling sums) {
    constexpr int most_columns = 4;
    sums.columns = std::min(sums.columns, most_columns);
    sums.tiles = (sums.channels + sums.columns - 1) / sums.columns;
    return sums;
}
inline Grid grid_of_tiles(const Tiling& tiling) {
    return {std::min<std::int64_t>(tiling.tiles, 65535), tile_threads};
}

/// The thread's place.
__device__ __forceinline__ int tile_column(const Tiling& tiling) {
    return static_cast<int>(threadIdx.x) & (tiling.columns - 1);
}
__device__ __forceinline__ int tile_row(const Tiling& tiling) {
    return static_cast<int>(threadIdx.x) / tiling.columns;
}
__device__ __forceinline__ int tile_rows(const Tiling& tiling) {
    return tile_threads / tiling.columns;
}

/// Sum over the threads of a column, for each of them, in a fixed order. All threads of the block
/// call; may be called again at once.
template <typename V>
__device__ V column_sum(V value, int columns) {
    __shared__ V memory[tile_threads];
    const int thread = static_cast<int>(threadIdx.x);
    memory[thread] = value;
    __syncthreads();
    for (int half = tile_threads / 2; half >= columns; half /= 2) {
        if (thread < half) memory[thread] += memory[thread + half];
        __syncthreads();
    }
    const V sum = memory[thread & (columns - 1)];
    __syncthreads();
    return sum;
}

/// Calls body(row, step, n) for the rows of the block's chunk that belong to this thread, `batch`
/// at a time: row, row + step, ..., n of them.
template <int batch, typename Body>
__device__ __forceinline__ void for_each_batch(const Tiling& tiling, const Body& body) {
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * tiling.chunk_rows;
    const std::int64_t stop = begin + tiling.chunk_rows;
    const std::int64_t end = stop < tiling.rows ? stop : tiling.rows;
    const int step = tile_rows(tiling);
    for (std::int64_t row = begin + tile_row(tiling); row < end; row += batch * step) {
        const std::int64_t left = (end - row + step - 1) / step;
        body(row, step, left < batch ? static_cast<int>(left) : batch);
    }
}

/// One value of a per-channel Array or ConstArray as double, `otherwise` where there is none.
template <typename A>
__device__ __forceinline__ double channel_or(const A& x, std::int64_t c, double otherwise) {
    if (x.data == nullptr) return otherwise;
    double value = 0;
    as_floating(x.dtype, [&](auto type) {
        value = static_cast<double>(widen(static_cast<const decltype(type)*>(x.data)[c]));
    });
    return value;
}

/// Rounds a value into a per-channel array, if there is one.
__device__ __forceinline__ void put_channel(const Array& x, std::int64_t c, double value) {
    if (x.data == nullptr) return;
    as_floating(x.dtype, [&](auto type) {
        using T = decltype(type);
        static_cast<T*>(x.data)[c] = narrow<T>(value);
    });
}

/// Factors of a channel, three rows of the scratch.
template <typename W>
struct ChannelFactors {
    W* first;
    W* second;
    W* third;
};
template <typename W>
ChannelFactors<W> channel_factors(W* memory, std::int64_t channels) {
    return {memory, memory + channels, memory + 2 * channels};
}

template <int width, typename W>
__device__ __forceinline__ void load_factors(W (&to)[width], const W* from) {
    for (int k = 0; k < width; ++k) to[k] = from[k];
}

/// Whether packs of 16 bytes divide the channels and the pointers are aligned for them (nullptr
/// is).
template <typename T, typename... P>
bool fits_packs(std::int64_t channels, const P*... data) {
    constexpr std::int64_t width = pack_width<T>;
    return channels % width == 0 && packs_in<static_cast<int>(width)>(width, data...) > 0;
}

}  // namespace kernels::cuda
