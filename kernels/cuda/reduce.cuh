#pragma once

#include <cassert>
#include <limits>

#include "cuda/device_math.cuh"
#include "kernels/reduce.h"
#include "shared/reduce_steps.h"

/// Passes of `reduce`, one source each for threads, rows and columns.
namespace kernels::cuda {

#define HALFTONE_FORMULA __device__
#include "shared/reduce_ops.inc"
#undef HALFTONE_FORMULA

/// Where results go, and how they are finished there.
struct ReduceTarget {
    void* data;
    DType dtype;
    ReduceOp finish;  ///< mean and norm2 change the sum; others do not
    double terms;     ///< of a mean

    template <typename W>
    __device__ void store(std::int64_t at, W v) const {
        v = finish_reduction(v, terms, finish);
        switch (dtype) {
            case DType::f64:
                static_cast<double*>(data)[at] = narrow<double>(v);
                break;
            case DType::f32:
                static_cast<float*>(data)[at] = narrow<float>(v);
                break;
            case DType::f16:
                static_cast<Half*>(data)[at] = narrow<Half>(v);
                break;
            default:
                static_cast<BFloat16*>(data)[at] = narrow<BFloat16>(v);
        }
    }
};

/// One pass over memory: x (outer, n, inner) to y (outer, chunks, inner), each chunk `rows` of the
/// n. No thread joins more than 128 terms one after the other.
struct ReducePass {
    ReduceTarget y;
    ConstArray x;
    std::int64_t outer, n, inner;
    std::int64_t rows, chunks;
    ReduceOp op;
    bool wide;  ///< in f64
};

constexpr int reduce_threads = 256;
constexpr int reduce_columns = 32;  ///< of x's inner, at most, in one block

/// For n of few terms: a thread for each result; chunks is 1.
void reduce_by_thread(const ReducePass& pass, Stream stream);
/// inner is 1: a warp or a block for each result.
void reduce_by_row(const ReducePass& pass, Stream stream);
/// inner > 1: a block for up to `reduce_columns` results.
void reduce_by_column(const ReducePass& pass, Stream stream);

/// Calls f(Op{}, T{}, W{}) with x's stored type and the type that is computed in. An x of f64 needs
/// `wide`: nothing computes it in less.
template <typename F>
void with_reduction(const ReducePass& pass, const F& f) {
    with_reduce_op(pass.op, [&](auto op) {
        with_floating(pass.x.dtype, [&](auto type) {
            if (pass.wide) return f(op, type, double{});
            assert(pass.x.dtype != DType::f64);
            if constexpr (!std::is_same_v<decltype(type), double>) return f(op, type, float{});
        });
    });
}

/// join(so far, term(x))
template <typename Op, typename W, typename T>
__device__ __forceinline__ W joined(W so_far, T x) {
    return Op{}(so_far, Op::term(static_cast<W>(widen(x))));
}

/// As many blocks as there are tasks, unless they are more than a grid should have: kernels step
/// through tasks by the grid.
inline Grid reduce_grid(std::int64_t tasks) {
    return {std::min<std::int64_t>(tasks, 1 << 20), reduce_threads};
}

}  // namespace kernels::cuda
