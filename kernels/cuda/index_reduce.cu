#include "cpu/index_fold.h"
#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/piece_sums.cuh"
#include "cuda/raw.h"
#include "cuda/workspace.h"
#include "kernels/cuda_device.h"

namespace kernels::cuda {
namespace {

/// A term and the row that it goes to. Beyond the rows come holes, then what goes outside.
struct Keyed {
    std::int64_t key, position;
};

/// Row of a term.
struct RowIndex {
    const std::int64_t* index;
    IndexSpan span;

    __device__ std::int64_t operator()(std::int64_t i) const {
        const std::int64_t j = index[i];
        if (j >= 0 && j < span.n) return j;
        return span.n + (span.holes && j == -1 ? 0 : 1);
    }
};

/// Index where each element of (outer, n, inner) is a row.
struct ElementIndex {
    const std::int64_t* index;
    IndexSpan span;

    __device__ std::int64_t operator()(std::int64_t i) const {
        const std::int64_t j = index[i];
        if (j >= 0 && j < span.n)
            return (i / span.inner / span.m * span.n + j) * span.inner + i % span.inner;
        return span.outer * span.n * span.inner + (span.holes && j == -1 ? 0 : 1);
    }
};

constexpr int tile = default_threads;

/// Runs of `tile` terms in order: each term counts those that go before it.
template <typename KeyOf>
__global__ void sort_tiles_kernel(Keyed* sorted, KeyOf key_of, std::int64_t m, std::int64_t tiles) {
    __shared__ std::int64_t keys[tile];
    const int thread = static_cast<int>(threadIdx.x);
    for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::int64_t first = t * tile, i = first + thread;
        const int count = static_cast<int>(m - first < tile ? m - first : tile);
        const std::int64_t key = thread < count ? key_of(i) : 0;
        keys[thread] = key;
        __syncthreads();
        if (thread < count) {
            int before = 0;
            for (int k = 0; k < count; ++k)
                before += keys[k] < key || (keys[k] == key && k < thread) ? 1 : 0;
            sorted[first + before] = {key, i};
        }
        __syncthreads();  // the next tile overwrites the keys
    }
}

/// How many of in[0, n), in order, go before a term with this key: those below it and, if
/// `with_equal`, those like it.
__device__ __forceinline__ std::int64_t count_before(const Keyed* in, std::int64_t n,
                                                     std::int64_t key, bool with_equal) {
    std::int64_t low = 0, high = n;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        const bool before = with_equal ? in[middle].key <= key : in[middle].key < key;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Pairs of runs of `width` terms into one each: a term's place is its own plus the number of those
/// of the other run before it; of equal keys the first run's go first.
__global__ void merge_kernel(Keyed* out, const Keyed* in, std::int64_t m, std::int64_t width) {
    for (std::int64_t i = grid_thread(); i < m; i += grid_threads()) {
        const std::int64_t run = i / width, first = run * width;
        const bool second = run % 2 != 0;
        const std::int64_t other = second ? first - width : first + width;
        std::int64_t at = i;
        if (other < m) {
            const std::int64_t length = m - other < width ? m - other : width;
            at += count_before(in + other, length, in[i].key, second) - (second ? width : 0);
        }
        out[at] = in[i];
    }
}

/// The terms in order of their rows, and more scratch, both in the stream's workspace.
struct Sorted {
    const Keyed* terms;
    void* scratch;
};

template <typename KeyOf>
Sorted sorted_terms(const KeyOf& key_of, std::int64_t m, std::size_t scratch_bytes, Stream stream) {
    WorkspaceParts parts;
    const std::size_t bytes = static_cast<std::size_t>(m) * sizeof(Keyed);
    const std::size_t one = parts.take(bytes), two = parts.take(bytes);
    const std::size_t scratch = parts.take(scratch_bytes);
    auto* start = static_cast<std::byte*>(workspace(parts.total(), stream));
    auto* in = reinterpret_cast<Keyed*>(start + one);
    auto* out = reinterpret_cast<Keyed*>(start + two);
    const std::int64_t tiles = (m + tile - 1) / tile;
    launch("sort_tiles", sort_tiles_kernel<KeyOf>, Grid{grid_for(m).blocks, tile}, stream, in,
           key_of, m, tiles);
    for (std::int64_t width = tile; width < m; width *= 2) {
        launch("merge", merge_kernel, grid_for(m), stream, out, in, m, width);
        std::swap(in, out);
    }
    return {in, start + scratch};
}

constexpr int fold_batch = 8;  ///< terms that a thread loads together

/// Terms of y's rows; `rows` of them in each of y's outer parts.
struct Terms {
    const Keyed* sorted;
    std::int64_t count, rows;

    /// A term that goes outside sorts behind all others.
    __device__ bool outside() const { return sorted[count - 1].key > rows; }
    /// The first of those that go to a row.
    __device__ bool heads(std::int64_t i) const {
        return sorted[i].key < rows && (i == 0 || sorted[i - 1].key != sorted[i].key);
    }
    __device__ bool ends(std::int64_t i) const {
        return i + 1 == count || sorted[i + 1].key != sorted[i].key;
    }
    /// Positions of those from k on that have the key, fold_batch at most; how many there are.
    __device__ __forceinline__ int take(std::int64_t (&at)[fold_batch], std::int64_t k,
                                        std::int64_t key) const {
        int n = 0;
#pragma unroll
        for (int b = 0; b < fold_batch; ++b) {
            const bool there = k + b < count && sorted[k + b].key == key;
            at[b] = there ? sorted[k + b].position : 0;
            n += there ? 1 : 0;
        }
        return n;
    }
};

template <typename T>
__device__ void spoil(T* y, std::int64_t n) {
    for (std::int64_t i = grid_thread(); i < n; i += grid_threads()) {
        if constexpr (std::is_integral_v<T>)
            y[i] = T{};
        else
            y[i] = narrow<T>(std::numeric_limits<Compute<T>>::quiet_NaN());
    }
}

/// body(y's element, term, x's element before the term's row) for every term and column.
template <typename Body>
__device__ void for_each_term(const Terms& terms, const IndexSpan& s, const Body& body) {
    const std::int64_t n = s.outer * s.m * s.inner;
    for (std::int64_t at = grid_thread(); at < n; at += grid_threads()) {
        const std::int64_t line = at / s.inner, c = at - line * s.inner;
        const std::int64_t o = line / s.m, i = line - o * s.m;
        const std::int64_t key = terms.sorted[i].key;
        body((o * s.n + key) * s.inner + c, i, o * s.m * s.inner + c);
    }
}

/// A thread an element that gets terms, the last wins.
template <typename T>
__global__ void last_kernel(T* y, const T* x, Terms terms, IndexSpan s) {
    if (terms.outside()) return spoil(y, s.outer * s.n * s.inner);
    for_each_term(terms, s, [&](std::int64_t to, std::int64_t i, std::int64_t from) {
        if (terms.sorted[i].key < terms.rows && terms.ends(i))
            y[to] = x[from + terms.sorted[i].position * s.inner];
    });
}

template <typename T>
struct FoldType {
    using type = std::conditional_t<std::is_integral_v<T>, std::int64_t, Compute<T>>;
};

template <typename T>
using Wide = typename FoldType<T>::type;

template <typename T>
__device__ __forceinline__ Wide<T> read(T v) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<Wide<T>>(v);
    else
        return widen(v);
}

/// A thread an element that gets terms folds them in their order.
template <typename T, typename Fold>
__global__ void fold_kernel(T* y, const T* x, Terms terms, IndexSpan s, bool with_base) {
    if (terms.outside()) return spoil(y, s.outer * s.n * s.inner);
    for_each_term(terms, s, [&](std::int64_t to, std::int64_t i, std::int64_t from) {
        if (!terms.heads(i)) return;
        Fold fold;
        if (with_base) fold.add(read(y[to]));
        const std::int64_t key = terms.sorted[i].key;
        // Loads several terms together, so that the loads overlap. One by one each would wait for
        // the last.
        int n = fold_batch;
        for (std::int64_t k = i; n == fold_batch; k += fold_batch) {
            std::int64_t at[fold_batch];
            n = terms.take(at, k, key);
            T taken[fold_batch] = {};
#pragma unroll
            for (int b = 0; b < fold_batch; ++b)
                if (b < n) taken[b] = x[from + at[b] * s.inner];
#pragma unroll
            for (int b = 0; b < fold_batch; ++b)
                if (b < n) fold.add(read(taken[b]));
        }
        if constexpr (std::is_integral_v<T>)
            y[to] = static_cast<T>(fold.value());
        else
            y[to] = narrow<T>(fold.value());
    });
}

/// The terms of sums, whose columns are those of all outer parts (piece_sums.cuh).
template <typename T>
struct SumTerms {
    const Keyed* sorted;
    std::int64_t count, rows;
    const T* x;
    IndexSpan span;

    __device__ std::int64_t key(std::int64_t i) const { return sorted[i].key; }
    __device__ bool counts(std::int64_t key) const { return key < rows; }
    __device__ Wide<T> value(std::int64_t i, std::int64_t column) const {
        const std::int64_t o = column / span.inner, c = column - o * span.inner;
        return read(x[(o * span.m + sorted[i].position) * span.inner + c]);
    }
};

/// A thread an element that gets terms.
template <typename T>
__global__ void sum_kernel(T* y, SumTerms<T> sums, PieceSums<Wide<T>> pieces, bool with_base,
                           bool mean) {
    using W = Wide<T>;
    const IndexSpan& s = sums.span;
    const Terms terms{sums.sorted, sums.count, sums.rows};
    if (terms.outside()) return spoil(y, s.outer * s.n * s.inner);
    for_each_term(terms, s, [&](std::int64_t to, std::int64_t i, std::int64_t from) {
        if (!terms.heads(i)) return;
        const std::int64_t column = from / (s.m * s.inner) * s.inner + from % s.inner;
        const auto [sum, count] =
            sum_of_key(pieces, sums, i, column, with_base ? W{read(y[to])} : W{0});
        if constexpr (std::is_integral_v<T>)
            y[to] = static_cast<T>(sum);
        else
            y[to] = narrow<T>(mean ? sum / static_cast<W>(with_base ? count + 1 : count) : sum);
    });
}

bool is_sum(IndexFold fold) { return fold == IndexFold::sum || fold == IndexFold::mean; }

/// Bytes for the later pieces of sums.
std::size_t piece_bytes(DType dtype, const IndexSpan& s, IndexFold fold) {
    if (!is_sum(fold)) return 0;
    const bool is_wide = dtype == DType::f64 || dtype == DType::i64 || dtype == DType::i32;
    return static_cast<std::size_t>(PieceSums<float>::slots(s.m) * s.outer * s.inner) *
           (is_wide ? sizeof(double) : sizeof(float));
}

template <typename T>
void start_sum(Array y, ConstArray x, const Sorted& sorted, const IndexSpan& s, bool with_base,
               bool mean, Stream stream) {
    using W = Wide<T>;
    const SumTerms<T> terms{sorted.terms, s.m, s.n, static_cast<const T*>(x.data), s};
    const PieceSums<W> pieces{static_cast<W*>(sorted.scratch), s.outer * s.inner,
                              cpu::sum_piece - (with_base ? 1 : 0)};
    if (s.m > pieces.first)
        launch("index_pieces", piece_sums_kernel<W, SumTerms<T>>,
               grid_for(PieceSums<W>::slots(s.m) * pieces.columns), stream, pieces, terms);
    launch("index_reduce", sum_kernel<T>, grid_for(s.outer * s.m * s.inner), stream,
           static_cast<T*>(y.data), terms, pieces, with_base, mean);
}

template <typename T>
void start_fold(Array y, ConstArray x, const Sorted& sorted, const IndexSpan& s, IndexFold kind,
                bool with_base, Stream stream) {
    const Terms terms{sorted.terms, s.m, s.n};
    if constexpr (sizeof(T) > 1) {
        if (is_sum(kind))
            return start_sum<T>(y, x, sorted, s, with_base, kind == IndexFold::mean, stream);
        cpu::with_other_fold<Wide<T>>(kind, [&](auto fold) {
            launch("index_reduce", fold_kernel<T, decltype(fold)>,
                   grid_for(s.outer * s.m * s.inner), stream, static_cast<T*>(y.data),
                   static_cast<const T*>(x.data), terms, s, with_base);
        });
    } else {
        throw DeviceError("a CUDA kernel that folds numbers was given bytes");
    }
}

template <typename KeyOf>
void reduce_by_key(Array y, ConstArray base, ConstArray x, const KeyOf& key_of,
                   const IndexSpan& span, IndexFold fold, bool with_base, Stream stream) {
    if (y.size == 0) return;
    if (y.data != base.data)
        copy_on_device(y.data, base.data, static_cast<std::size_t>(y.size) * size_of(y.dtype),
                       stream);
    if (span.m == 0) return;
    const Sorted sorted = sorted_terms(key_of, span.m, piece_bytes(y.dtype, span, fold), stream);
    with_stored(y.dtype, [&]<typename T>(T) {
        if (fold == IndexFold::last)
            launch("index_reduce", last_kernel<T>, grid_for(span.outer * span.m * span.inner),
                   stream, static_cast<T*>(y.data), static_cast<const T*>(x.data),
                   Terms{sorted.terms, span.m, span.n}, span);
        else
            start_fold<T>(y, x, sorted, span, fold, with_base, stream);
    });
}

}  // namespace

void index_reduce(Array y, ConstArray base, ConstArray x, ConstArray index, const IndexSpan& span,
                  IndexFold fold, bool with_base, Stream stream) {
    const RowIndex key_of{static_cast<const std::int64_t*>(index.data), span};
    reduce_by_key(y, base, x, key_of, span, fold, with_base, stream);
}

void scatter_reduce(Array y, ConstArray base, ConstArray x, ConstArray index, const IndexSpan& span,
                    IndexFold fold, bool with_base, Stream stream) {
    const ElementIndex key_of{static_cast<const std::int64_t*>(index.data), span};
    const IndexSpan flat{1, span.outer * span.n * span.inner, span.outer * span.m * span.inner, 1,
                         span.holes};
    reduce_by_key(y, base, x, key_of, flat, fold, with_base, stream);
}

}  // namespace kernels::cuda
