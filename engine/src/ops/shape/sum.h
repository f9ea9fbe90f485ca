#pragma once

#include <optional>
#include <vector>

#include "tensor/tape.h"

namespace engine {

// Here and not among the reductions: a sum and expand() are each other's gradients.

/// Sum over `dims` (empty: all); accumulates in f32 whatever the storage (f64 for f64). Without
/// `dtype`: x's type, f32 in a region (policy f32_dtype: reads low, writes f32). Integers sum in
/// i64 and wrap around; `dtype` is the type that they are cast to before, as in PyTorch.
Tensor sum(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
           std::optional<DType> dtype = {});
inline constexpr Op sum_op(CastPolicy::f32_dtype, "sum(x; dim=[], keepdim=False, dtype=None)",
                           "A sum of many fp16 values soon passes 65504, so it is written in fp32.",
                           by_name<sum>);
/// Sums x down to a shape that broadcasts to x's: the gradient of a broadcast.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace engine
