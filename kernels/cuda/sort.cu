#include "kernels/sort.h"

#include <cassert>
#include <type_traits>
#include <utility>

#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/workspace.h"

namespace kernels::cuda {
namespace {

constexpr int sort_threads = default_threads;
constexpr int sort_tile = 1024;  ///< elements that a block sorts in shared memory

/// Key by which elements are compared.
template <typename T>
__device__ __forceinline__ auto comparable(T v) {
    if constexpr (std::is_integral_v<T>)
        return v;
    else
        return widen(v);
}

/// Whether a goes before b. Places differ, so the order is total and the result does not depend on
/// who compares. A NaN is larger than anything.
template <typename V>
__device__ __forceinline__ bool goes_before(V a, std::int64_t place_a, V b, std::int64_t place_b,
                                            bool descending) {
    const bool nan_a = a != a, nan_b = b != b;
    if (nan_a != nan_b) return nan_a == descending;
    if (nan_a || a == b) return place_a < place_b;
    return (a < b) != descending;
}

/// Rows (o, i) of x, n elements each, `inner` apart.
struct Rows {
    std::int64_t n, inner;
    __device__ __forceinline__ std::int64_t start(std::int64_t row) const {
        return row / inner * n * inner + row % inner;
    }
};

/// Where the places of a row lie: as y wants them, or side by side in scratch.
struct Places {
    std::int64_t* data;
    bool strided;
    __device__ __forceinline__ std::int64_t& at(const Rows& rows, std::int64_t row,
                                                std::int64_t k) const {
        return data[strided ? rows.start(row) + k * rows.inner : row * rows.n + k];
    }
};

/// Sorts segments of `width` (a power of two, up to sort_tile) elements of the rows, sort_tile /
/// width of them at once, by Batcher's bitonic network. What lies beyond a row's end comes last.
template <typename T>
__global__ void sort_segments_kernel(Places places, const T* x, Rows rows, int width,
                                     std::int64_t segments, std::int64_t total, bool descending) {
    using V = decltype(comparable(T{}));
    __shared__ V values[sort_tile];
    __shared__ int held[sort_tile];  // places in the segment
    const int thread = static_cast<int>(threadIdx.x), at_once = sort_tile / width;
    for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * at_once; first < total;
         first += static_cast<std::int64_t>(gridDim.x) * at_once) {
        const auto left = [&](std::int64_t segment) {  // elements of a segment
            const std::int64_t begin = segment % segments * width;
            return static_cast<int>(rows.n - begin < width ? rows.n - begin : width);
        };
        for (int slot = thread; slot < sort_tile; slot += sort_threads) {
            const std::int64_t segment = first + slot / width;
            const int k = slot % width;
            held[slot] = k;
            values[slot] = V{};
            if (segment < total && k < left(segment))
                values[slot] = comparable(x[rows.start(segment / segments) +
                                            (segment % segments * width + k) * rows.inner]);
        }
        __syncthreads();
        for (int size = 2; size <= width; size *= 2) {
            for (int step = size / 2; step > 0; step /= 2) {
                for (int pair = thread; pair < sort_tile / 2; pair += sort_threads) {
                    const int a = pair / step * 2 * step + pair % step, b = a + step;
                    const std::int64_t segment = first + a / width;
                    const int count = segment < total ? left(segment) : 0;
                    const bool real_a = held[a] < count, real_b = held[b] < count;
                    const bool in_order =
                        real_a && real_b
                            ? goes_before(values[a], held[a], values[b], held[b], descending)
                            : real_a || (!real_b && held[a] < held[b]);
                    const bool upward = a % width / size % 2 == 0;
                    if (in_order != upward) {
                        const V value = values[a];
                        values[a] = values[b];
                        values[b] = value;
                        const int place = held[a];
                        held[a] = held[b];
                        held[b] = place;
                    }
                }
                __syncthreads();
            }
        }
        for (int slot = thread; slot < sort_tile; slot += sort_threads) {
            const std::int64_t segment = first + slot / width;
            const int k = slot % width;
            if (segment < total && k < left(segment)) {
                const std::int64_t begin = segment % segments * width;
                places.at(rows, segment / segments, begin + k) = begin + held[slot];
            }
        }
        __syncthreads();  // the next segments are read into the same slots
    }
}

/// Merges neighbouring sorted runs of `width`: each element's new place is its place in its own run
/// plus the number of elements of the other that go before it.
template <typename T>
__global__ void merge_runs_kernel(Places to, Places from, const T* x, Rows rows, std::int64_t width,
                                  std::int64_t total, bool descending) {
    for (std::int64_t i = grid_thread(); i < total; i += grid_threads()) {
        const std::int64_t row = i / rows.n, k = i % rows.n, start = rows.start(row);
        const std::int64_t run = k / width, pair = run / 2 * 2 * width;
        const std::int64_t other = run % 2 == 0 ? pair + width : pair;
        const std::int64_t stop = other + width < rows.n ? other + width : rows.n;
        const std::int64_t place = from.at(rows, row, k);
        const auto value = comparable(x[start + place * rows.inner]);
        std::int64_t low = other < rows.n ? other : rows.n, high = stop;
        const std::int64_t begin = low;
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            const std::int64_t that = from.at(rows, row, middle);
            if (goes_before(comparable(x[start + that * rows.inner]), that, value, place,
                            descending))
                low = middle + 1;
            else
                high = middle;
        }
        to.at(rows, row, pair + k % width + (low - begin)) = place;
    }
}

int power_of_two_above(std::int64_t n) {
    int width = 2;
    while (width < n && width < sort_tile) width *= 2;
    return width;
}

template <typename T>
void sort_rows(std::int64_t* y, const T* x, const Rows& rows, std::int64_t count, bool descending,
               Stream stream) {
    const int width = power_of_two_above(rows.n);
    const std::int64_t segments = (rows.n + width - 1) / width, total = count * segments;
    int passes = 0;
    for (std::int64_t run = width; run < rows.n; run *= 2) ++passes;
    // Merges go to and fro between scratch and y, and end in y.
    Places out{y, true}, scratch{nullptr, false};
    if (passes > 0) {
        const auto bytes = static_cast<std::size_t>(count * rows.n) * sizeof(std::int64_t);
        scratch.data = static_cast<std::int64_t*>(workspace(bytes, stream));
    }
    Places now = passes % 2 == 0 ? out : scratch, next = passes % 2 == 0 ? scratch : out;
    const std::int64_t at_once = sort_tile / width, blocks = (total + at_once - 1) / at_once;
    launch("sort_order", sort_segments_kernel<T>,
           Grid{std::min<std::int64_t>(blocks, 1 << 20), sort_threads}, stream, now, x, rows, width,
           segments, total, descending);
    for (std::int64_t run = width; run < rows.n; run *= 2) {
        launch("sort_order", merge_runs_kernel<T>, grid_for(count * rows.n), stream, next, now, x,
               rows, run, count * rows.n, descending);
        std::swap(now, next);
    }
}

}  // namespace

void sort_order(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                bool descending, Stream stream) {
    assert(y.dtype == DType::i64 && x.size == outer * n * inner && y.size == x.size);
    if (x.size == 0) return;
    with_stored(x.dtype, [&]<typename T>(T) {
        sort_rows(static_cast<std::int64_t*>(y.data), static_cast<const T*>(x.data), Rows{n, inner},
                  outer * inner, descending, stream);
    });
}

}  // namespace kernels::cuda
