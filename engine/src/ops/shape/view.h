#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo reshape_info, flatten_info, permute_info, transpose_info, expand_info,
    narrow_info, contiguous_info, cat_info;

// Views share storage and version with their source.

/// Same elements in row-major logical order; one size may be -1. A view where strides allow, else a
/// copy.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Dimensions [start, end] into one; negative from the end.
Tensor flatten(const Tensor& x, std::int64_t start = 0, std::int64_t end = -1);
/// Dimension i of the result is dimension dims[i] of x.
Tensor permute(const Tensor& x, const Dims& dims);
Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b);
/// Broadcast view; -1 keeps a size.
Tensor expand(const Tensor& x, const Shape& shape);
/// [start, start + length) of a dimension.
Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length);
/// x in row-major order (a copy only if it is not so already).
Tensor contiguous(const Tensor& x);
/// Joined along dim; mixed floats promote natively (no entry in the CUDA column).
Tensor cat(const TensorList& tensors, std::int64_t dim);

}  // namespace engine
