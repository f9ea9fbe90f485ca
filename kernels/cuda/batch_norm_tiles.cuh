#pragma once

#include <limits>

#include "cuda/block_reduce.cuh"
#include "cuda/convert.cuh"
#include "cuda/device_math.cuh"
#include "cuda/last_block.cuh"
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

/// Tiles for threads with `width` channels each, which divides the channels. A thread has about
/// eight rows, or fewer down to `min_rows` where the device would not be filled.
inline Tiling make_tiling(std::int64_t rows, std::int64_t channels, int width,
                          std::int64_t max_chunks = std::numeric_limits<std::int64_t>::max(),
                          int min_rows = 8) {
    const std::int64_t packs = channels / width;
    int columns = 1;
    while (columns < 32 && columns < packs) columns *= 2;
    const std::int64_t tiles = (packs + columns - 1) / columns;
    const std::int64_t lanes = tile_threads / columns;
    const std::int64_t cores = multiprocessors();
    const auto chunks_of = [&](std::int64_t each) {
        return (rows + each * lanes - 1) / (each * lanes);
    };
    std::int64_t each = 8;
    while (each > min_rows && tiles * chunks_of(each) < cores) each /= 2;
    const std::int64_t most =
        std::max<std::int64_t>(1, cores * 8 / std::max<std::int64_t>(tiles, 1));
    const std::int64_t wanted = std::min({most, chunks_of(each), max_chunks});
    const std::int64_t chunk_rows = wanted > 0 ? (rows + wanted - 1) / wanted : 1;
    return {rows, channels, tiles, chunk_rows, (rows + chunk_rows - 1) / chunk_rows, columns};
}
inline Grid grid_of(const Tiling& tiling) {
    return {tiling.chunks, tile_threads, std::min<std::int64_t>(tiling.tiles, 65535)};
}

/// For kernels without sums: their threads keep nothing but the channels' factors.
inline Tiling tiling_of_map(std::int64_t rows, std::int64_t channels, int width) {
    constexpr int min_rows = 2;
    return make_tiling(rows, channels, width, std::numeric_limits<std::int64_t>::max(), min_rows);
}

/// For sums by channel. Each chunk leaves parts that the last block joins, so there are no more of
/// them than two a multiprocessor, with enough loads in flight in each; and no fewer rows a thread
/// than it takes at a time.
inline Tiling tiling_of_sums(std::int64_t rows, std::int64_t channels, int width) {
    const int min_rows = width == 1 ? 8 : 4;
    return make_tiling(rows, channels, width, std::int64_t{2} * multiprocessors(), min_rows);
}

/// For kernels that end with a join by the last block of each y: there is one without rows too.
inline Grid grid_of_sums(const Tiling& tiling) {
    return {std::max<std::int64_t>(tiling.chunks, 1), tile_threads,
            std::min<std::int64_t>(tiling.tiles, max_finish_counts)};
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

/// Each value becomes its sum over the threads of a column, for each of them, in a fixed order. All
/// threads of the block call; may be called again at once. The warps share the values: a value's
/// 256 addends go through memory once, and two barriers do for all values.
template <int n, typename V>
__device__ __forceinline__ void column_sums(V (&values)[n], int columns) {
    __shared__ V addends[n][tile_threads];
    __shared__ V sums[n][warp_size];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size;
#pragma unroll
    for (int k = 0; k < n; ++k) addends[k][thread] = values[k];
    __syncthreads();
    for (int k = thread / warp_size; k < n; k += tile_threads / warp_size) {
        const V* from = addends[k] + lane;
        V sum = ((from[0] + from[128]) + (from[64] + from[192])) +
                ((from[32] + from[160]) + (from[96] + from[224]));
        for (int apart = warp_size / 2; apart >= columns; apart /= 2)
            sum += __shfl_xor_sync(whole_warp, sum, apart);
        if (lane < columns) sums[k][lane] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < n; ++k) values[k] = sums[k][thread & (columns - 1)];
}
static_assert(tile_threads == 256, "column_sums adds the threads of eight warps");

/// values[k], without memory for the array.
template <int n, typename V>
__device__ __forceinline__ V pick(const V (&values)[n], int k) {
    V picked = values[0];
#pragma unroll
    for (int i = 1; i < n; ++i)
        if (i == k) picked = values[i];
    return picked;
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
    as_floating(x.dtype, [&]<typename T>(T) {
        static_cast<T*>(x.data)[c] = narrow<T>(value);
    });
}

/// Rows of a chunk.
__device__ __forceinline__ std::int64_t rows_of_chunk(const Tiling& tiling, std::int64_t chunk) {
    const std::int64_t left = tiling.rows - chunk * tiling.chunk_rows;
    return left < tiling.chunk_rows ? left : tiling.chunk_rows;
}

/// Two rows of `parts` a chunk: leaves the block's two sums of each channel. One thread of each
/// column does so.
template <int width, typename W>
__device__ __forceinline__ void put_parts(W* parts, const Tiling& tiling, std::int64_t c,
                                          const W (&first)[width], const W (&second)[width]) {
    if (tile_row(tiling) != 0 || c >= tiling.channels || tiling.chunks == 0) return;
    W* to = parts + 2 * static_cast<std::int64_t>(blockIdx.x) * tiling.channels + c;
    Pack<W, width> out;
    for (int k = 0; k < width; ++k) out.at[k] = first[k];
    store_pack(to, out);
    for (int k = 0; k < width; ++k) out.at[k] = second[k];
    store_pack(to + tiling.channels, out);
}

/// body(chunk, first, second) with the parts of the thread's channels, for its share of the chunks.
template <int width, typename W, typename Body>
__device__ __forceinline__ void for_each_chunk(const W* parts, const Tiling& tiling, std::int64_t c,
                                               const Body& body) {
    if (c >= tiling.channels) return;
#pragma unroll 4
    for (std::int64_t chunk = tile_row(tiling); chunk < tiling.chunks; chunk += tile_rows(tiling)) {
        const W* from = parts + 2 * chunk * tiling.channels + c;
        body(chunk, load_pack_of_others<width>(from),
             load_pack_of_others<width>(from + tiling.channels));
    }
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
    const auto pack = load_pack<width>(from);
#pragma unroll
    for (int k = 0; k < width; ++k) to[k] = pack.at[k];
}

/// Whether packs of 16 bytes divide the channels and the pointers are aligned for them (nullptr
/// is).
template <typename T, typename... P>
bool fits_packs(std::int64_t channels, const P*... data) {
    constexpr std::int64_t width = pack_width<T>;
    return channels % width == 0 && packs_in<static_cast<int>(width)>(width, data...) > 0;
}

}  // namespace kernels::cuda
