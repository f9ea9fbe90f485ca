#include "kernels/reduce.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "cpu/grain.h"
#include "cpu/reduce_part.h"
#include "cpu/scalar_convert.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"
#include "shared/reduce_steps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/formula-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

#define HALFTONE_FORMULA HWY_INLINE
#include "shared/reduce_ops.inc"
#undef HALFTONE_FORMULA

/// Joins blocks of N vectors like a binary counter: the block pushed k-th is joined with as many
/// others as k has trailing zeros, so that no result passes through more than log2(count) joins.
template <class Op, int N>
class Tree {
public:
    // Not implicit: GCC would compile it for the processor's baseline, where NEON's vectors cannot
    // be made.
    Tree() {}
    void push(const VF (&block)[N]) {
        VF sum[N];
        for (int k = 0; k < N; ++k) sum[k] = block[k];
        int depth = 0;
        for (std::uint64_t bits = ++count_; (bits & 1u) == 0; bits >>= 1, ++depth)
            for (int k = 0; k < N; ++k) sum[k] = Op()(level_[depth][k], sum[k]);
        for (int k = 0; k < N; ++k) level_[depth][k] = sum[k];
    }
    /// The neutral element where nothing was pushed.
    void result(VF (&sum)[N]) const {
        for (int k = 0; k < N; ++k) sum[k] = hn::Set(DF(), Op::template neutral<float>());
        for (int depth = 0; depth < levels; ++depth) {
            if ((count_ >> depth & 1u) == 0) continue;
            for (int k = 0; k < N; ++k) sum[k] = Op()(level_[depth][k], sum[k]);
        }
    }

private:
    static constexpr int levels = 32;
    VF level_[levels][N];
    std::uint64_t count_ = 0;
};

/// Joins all lanes by halves. Highway's reductions of lanes have no product and ignore NaN.
template <class Op>
float join_lanes(VF v) {
    HWY_ALIGN float lane[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(v, DF(), lane);
    for (std::size_t half = hn::Lanes(DF()) / 2; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) {
            const VF joined = Op()(hn::Set(DF(), lane[i]), hn::Set(DF(), lane[i + half]));
            lane[i] = hn::GetLane(joined);
        }
    }
    return lane[0];
}

/// A contiguous row: vectors side by side in blocks, then the lanes.
template <class Op, class T>
float reduce_row(const T* x, std::int64_t n) {
    const std::int64_t lanes = lane_count();
    const VF neutral = hn::Set(DF(), Op::template neutral<float>());
    Tree<Op, 1> tree;
    std::int64_t i = 0;
    while (i + lanes <= n) {
        VF part[4] = {neutral, neutral, neutral, neutral};
        const std::int64_t stop = std::min(n, i + 512 * lanes);
        for (; i + 4 * lanes <= stop; i += 4 * lanes)
            for (int k = 0; k < 4; ++k) part[k] = Op()(part[k], Op::term(load(x + i + k * lanes)));
        for (; i + lanes <= stop; i += lanes) part[0] = Op()(part[0], Op::term(load(x + i)));
        const VF block[1] = {Op()(Op()(part[0], part[1]), Op()(part[2], part[3]))};
        tree.push(block);
    }
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        const VF last[1] = {
            hn::IfThenElse(hn::FirstN(DF(), rest), Op::term(load_part(x + i, rest)), neutral)};
        tree.push(last);
    }
    VF all[1];
    tree.result(all);
    return join_lanes<Op>(all[0]);
}

/// `width` columns, `inner` elements from row to row.
template <class Op, class T>
void reduce_columns(float* result, const T* x, std::int64_t rows, std::int64_t inner,
                    std::int64_t width) {
    constexpr int vectors = 4;
    const std::int64_t lanes = lane_count();
    for (std::int64_t col = 0; col < width; col += vectors * lanes) {
        const std::int64_t here = std::min(width - col, vectors * lanes);
        Tree<Op, vectors> tree;
        for (std::int64_t row = 0; row < rows; row += 128) {
            VF part[vectors];
            std::fill_n(part, vectors, hn::Set(DF(), Op::template neutral<float>()));
            for (std::int64_t r = row; r < std::min(rows, row + 128); ++r) {
                const T* p = x + r * inner + col;
                for (int k = 0; k < vectors && k * lanes < here; ++k) {
                    const std::int64_t left = here - k * lanes;
                    const VF v = left >= lanes
                                     ? load(p + k * lanes)
                                     : load_part(p + k * lanes, static_cast<std::size_t>(left));
                    part[k] = Op()(part[k], Op::term(v));
                }
            }
            tree.push(part);
        }
        VF all[vectors];
        tree.result(all);
        for (int k = 0; k < vectors && k * lanes < here; ++k)
            store_part_or_all(all[k], result + col + k * lanes, here - k * lanes);
    }
}

void reduce_part(float* result, const ReducePart& part, ReduceOp op) {
    with_reduce_op(op, [&]<typename Op>(Op) {
        with_vector_type(part.x.dtype, [&]<typename T>(T) {
            const T* first = static_cast<const T*>(part.x.data) + part.slice +
                             part.begin * part.inner + part.col;
            if (part.inner == 1)
                *result = reduce_row<Op>(first, part.end - part.begin);
            else
                reduce_columns<Op>(result, first, part.end - part.begin, part.inner, part.width);
        });
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(reduce_part);

constexpr std::int64_t tile = 256;  ///< columns of one task

void part_of(float* result, const ReducePart& part, ReduceOp op) {
    HWY_DYNAMIC_DISPATCH(reduce_part)(result, part, op);
}
void part_of(double* result, const ReducePart& part, ReduceOp op) {
    reduce_part_double(result, part, op);
}

/// Finishes v in place and rounds it into y by vectors.
void store_low(Array y, std::int64_t at, float* v, std::int64_t width, std::int64_t n,
               ReduceOp op) {
    for (std::int64_t i = 0; i < width; ++i)
        v[i] = finish_reduction(v[i], static_cast<double>(n), op);
    std::byte* const to = static_cast<std::byte*>(y.data) + at * 2;
    cast({to, y.dtype, width}, {v, DType::f32, width}, {});
}

template <class Wide>
void store_finished(Array y, std::int64_t at, Wide* v, std::int64_t width, std::int64_t n,
                    ReduceOp op) {
    if constexpr (std::is_same_v<Wide, float>) {
        if (y.dtype == DType::f16 || y.dtype == DType::bf16)
            return store_low(y, at, v, width, n, op);
    }
    with_type(y.dtype, [&]<typename T>(T) {
        const auto terms = static_cast<double>(n);
        for (std::int64_t i = 0; i < width; ++i)
            static_cast<T*>(y.data)[at + i] =
                narrow<T>(static_cast<double>(finish_reduction(v[i], terms, op)));
    });
}

/// How a reduction is split: by the shape alone, so that the sums do not depend on the thread
/// count.
struct Cut {
    std::int64_t outer, n, inner;
    std::int64_t rows = std::max<std::int64_t>(1024, 65536 / std::max<std::int64_t>(inner, 1));
    std::int64_t chunks = std::max<std::int64_t>(1, (n + rows - 1) / rows);
    std::int64_t tiles = (inner + tile - 1) / tile;

    std::int64_t tasks() const { return outer * chunks * tiles; }
    std::int64_t task_size() const { return std::min(n, rows) * std::min(inner, tile); }
    ReducePart part(ConstArray x, std::int64_t task) const {
        const std::int64_t col = task % tiles * tile;
        const std::int64_t chunk = task / tiles % chunks;
        const std::int64_t slice = task / tiles / chunks * n * inner;
        return {x,
                slice,
                chunk * rows,
                std::min(n, (chunk + 1) * rows),
                inner,
                col,
                std::min(tile, inner - col)};
    }
};

/// One chunk: each task ends in y.
template <class Wide>
void reduce_at_once(Array y, ConstArray x, const Cut& cut, ReduceOp op) {
    parallel_for(cut.tasks(), row_grain(cut.task_size()),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t task = begin; task < end; ++task) {
                         const ReducePart part = cut.part(x, task);
                         Wide result[tile];
                         part_of(result, part, op);
                         const std::int64_t at = task / cut.tiles * cut.inner + part.col;
                         store_finished(y, at, result, part.width, cut.n, op);
                     }
                 });
}

/// Several chunks: their results, (outer, chunks, inner), are reduced once more.
template <class Wide>
void reduce_in_chunks(Array y, ConstArray x, const Cut& cut, ReduceOp op) {
    std::vector<Wide> partial(static_cast<std::size_t>(cut.outer * cut.chunks * cut.inner));
    parallel_for(
        cut.tasks(), row_grain(cut.task_size()), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t task = begin; task < end; ++task) {
                const ReducePart part = cut.part(x, task);
                part_of(partial.data() + task / cut.tiles * cut.inner + part.col, part, op);
            }
        });
    const DType wide = sizeof(Wide) == 8 ? DType::f64 : DType::f32;
    const ConstArray rest(partial.data(), wide, static_cast<std::int64_t>(partial.size()));
    std::vector<Wide> result(static_cast<std::size_t>(cut.inner));
    for (std::int64_t o = 0; o < cut.outer; ++o) {
        const std::int64_t slice = o * cut.chunks * cut.inner;
        part_of(result.data(), {rest, slice, 0, cut.chunks, cut.inner, 0, cut.inner}, joining(op));
        store_finished(y, o * cut.inner, result.data(), cut.inner, cut.n, op);
    }
}

template <class Wide>
void reduce_as(Array y, ConstArray x, const Cut& cut, ReduceOp op) {
    if (cut.chunks == 1)
        reduce_at_once<Wide>(y, x, cut, op);
    else
        reduce_in_chunks<Wide>(y, x, cut, op);
}

}  // namespace

void reduce(Array y, ConstArray x, std::int64_t outer, std::int64_t n, std::int64_t inner,
            ReduceOp op, Stream) {
    assert(x.size == outer * n * inner && y.size == outer * inner);
    if (y.size == 0) return;
    if (x.dtype == DType::i64) return reduce_integers(y, x, n, inner, op);
    const Cut cut{outer, n, inner};
    if (x.dtype == DType::f64 || y.dtype == DType::f64)
        reduce_as<double>(y, x, cut, op);
    else
        reduce_as<float>(y, x, cut, op);
}

}  // namespace kernels::cpu
#endif
