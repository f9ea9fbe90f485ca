#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo slice_info, select_info, unsqueeze_info, squeeze_info, unbind_info, split_info,
    chunk_info, stack_info;

// Views share storage and version with their source; any type.

/// Elements start, start + step, ... below `end` of a dimension; bounds from the end if negative,
/// cut to the size otherwise, as Python's. step >= 1. A view.
Tensor slice(const Tensor& x, std::int64_t dim, std::optional<std::int64_t> start = {},
             std::optional<std::int64_t> end = {}, std::int64_t step = 1);
/// One element of a dimension, which goes. A view.
Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index);
/// Inserts a dimension of 1 before `dim`. A view.
Tensor unsqueeze(const Tensor& x, std::int64_t dim);
/// Without the dimensions of size 1, or without those of `dims` that have size 1. A view.
Tensor squeeze(const Tensor& x, std::optional<std::vector<std::int64_t>> dims = {});
/// The elements of a dimension. Views.
TensorList unbind(const Tensor& x, std::int64_t dim = 0);
/// Parts of these sizes, which must fill the dimension. Views.
TensorList split(const Tensor& x, const std::vector<std::int64_t>& sizes, std::int64_t dim = 0);
/// Parts of `size`, the last perhaps smaller.
TensorList split(const Tensor& x, std::int64_t size, std::int64_t dim = 0);
/// Cuts into at most `chunks` parts of one size, the last perhaps smaller.
TensorList chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim = 0);
/// Tensors of one shape along a new dimension; mixed floats promote natively, inside a region too.
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);

}  // namespace engine
