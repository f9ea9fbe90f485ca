#pragma once

#include <array>
#include <vector>

#include "kernels/reduce.h"
#include "tensor/tape.h"

// Common parts of reductions: the reduced dimensions, and the kernel's memory layout.
namespace engine {

/// Which dimensions a reduction takes away, and the shapes that follow.
struct ReducePlan {
    std::array<bool, Dims::max_rank> reduced{};
    std::vector<std::int64_t> dims;  ///< those dimensions, from the front
    Shape kept;                      ///< result with keepdim
    Shape squeezed;                  ///< result without
    std::int64_t count = 1;          ///< elements behind one result

    const Shape& shape(bool keepdim) const { return keepdim ? kept : squeezed; }
};

/// `dims` may be negative; none: all. Throws Error(value) naming `op` for one that x lacks or that
/// is given twice.
ReducePlan reduce_plan(std::string_view op, const Tensor& x, const std::vector<std::int64_t>& dims);
/// Error(shape) if there is nothing to choose from: for ops without a neutral element.
void check_not_empty(std::string_view op, const Tensor& x, const ReducePlan& plan);

/// Error(dtype) naming `op` for a result type that is not floating.
void check_result_type(std::string_view op, DType out);

/// x in memory as (outer, n, inner) with n the reduced elements.
struct ReduceWalk {
    Tensor x;
    std::int64_t outer, n, inner;
};
ReduceWalk reduce_walk(const Tensor& x, const ReducePlan& plan);

/// The reduction itself, outside the tape; x floating. Reads x in its own type if that is `out`, or
/// if it is 16 bits and `out` is f32; otherwise x is cast to `out` first.
Tensor reduced_by(kernels::ReduceOp op, const Tensor& x, const ReducePlan& plan, bool keepdim,
                  DType out);

}  // namespace engine
