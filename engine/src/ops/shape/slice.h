#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* view_keeps = "A view keeps the type.";

// Views share storage and version with their source; any type.

/// Elements start, start + step, ... below `end` of a dimension; bounds from the end if negative,
/// cut to the size otherwise, as Python's. step >= 1. A view.
Tensor slice(const Tensor& x, std::int64_t dim, std::optional<std::int64_t> start = {},
             std::optional<std::int64_t> end = {}, std::int64_t step = 1);
inline constexpr Op slice_op(CastPolicy::none, "slice(x; dim=0, start=None, end=None, step=1)",
                             view_keeps, by_name<slice>, not_forced);
/// One element of a dimension, which goes. A view.
Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index);
inline constexpr Op select_op(CastPolicy::none, "select(x; dim=0, index=0)", view_keeps,
                              by_name<select>, not_forced);
/// Inserts a dimension of 1 before `dim`. A view.
Tensor unsqueeze(const Tensor& x, std::int64_t dim);
inline constexpr Op unsqueeze_op(CastPolicy::none, "unsqueeze(x; dim=0)", view_keeps,
                                 by_name<unsqueeze>, not_forced);
/// Without the dimensions of size 1, or without those of `dims` that have size 1. A view.
Tensor squeeze(const Tensor& x, std::optional<std::vector<std::int64_t>> dims = {});
inline constexpr Op squeeze_op(CastPolicy::none, "squeeze(x; dim=None)", view_keeps,
                               by_name<squeeze>, not_forced);
/// The elements of a dimension. Views.
TensorList unbind(const Tensor& x, std::int64_t dim = 0);
inline constexpr Op unbind_op(CastPolicy::none, "unbind(x; dim=0)", view_keeps, by_name<unbind>,
                              not_forced);
/// Parts of these sizes, which must fill the dimension. Views.
TensorList split(const Tensor& x, const std::vector<std::int64_t>& sizes, std::int64_t dim = 0);
/// Parts of `size`, the last perhaps smaller.
TensorList split(const Tensor& x, std::int64_t size, std::int64_t dim = 0);
TensorList run_split(const Op& op, const OpArguments& args);
inline constexpr Op split_op(CastPolicy::none, "split(x; split_size=None, split_sizes=[], dim=0)",
                             view_keeps, run_split, not_forced);
/// Cuts into at most `chunks` parts of one size, the last perhaps smaller.
TensorList chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim = 0);
inline constexpr Op chunk_op(CastPolicy::none, "chunk(x; chunks=1, dim=0)", view_keeps,
                             by_name<chunk>, not_forced);
/// Tensors of one shape along a new dimension; mixed floats promote natively, inside a region too.
Tensor stack(const TensorList& tensors, std::int64_t dim = 0);
inline constexpr Op stack_op(CastPolicy::none, "stack(tensors[]; dim=0)",
                             "Not on the list: runs in the widest of its inputs' types.",
                             by_name<stack>, not_forced);

}  // namespace engine
