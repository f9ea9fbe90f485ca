#pragma once

#include "tensor/tape.h"

namespace engine {

// Views share storage and version with their source.

/// Same elements in row-major logical order; one size may be -1. A view where strides allow, else a
/// copy.
Tensor reshape(const Tensor& x, const Shape& shape);
inline constexpr Op reshape_op(CastPolicy::none, "reshape(x; shape)",
                               "Moves nothing, so it keeps the type.", by_name<reshape>,
                               not_forced);
/// Dimensions [start, end] into one; negative from the end.
Tensor flatten(const Tensor& x, std::int64_t start = 0, std::int64_t end = -1);
inline constexpr Op flatten_op(CastPolicy::none, "flatten(x; start_dim=0, end_dim=-1)",
                               "Moves nothing, so it keeps the type.", by_name<flatten>,
                               not_forced);
/// Dimension i of the result is dimension dims[i] of x.
Tensor permute(const Tensor& x, const Dims& dims);
inline constexpr Op permute_op(CastPolicy::none, "permute(x; dims)", "A view keeps the type.",
                               by_name<permute>, not_forced);
Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b);
inline constexpr Op transpose_op(CastPolicy::none, "transpose(x; dim0=0, dim1=1)",
                                 "A view keeps the type.", by_name<transpose>, not_forced);
/// Broadcast view; -1 keeps a size.
Tensor expand(const Tensor& x, const Shape& shape);
inline constexpr Op expand_op(CastPolicy::none, "expand(x; size)", "A view keeps the type.",
                              by_name<expand>, not_forced);
/// [start, start + length) of a dimension.
Tensor narrow(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t length);
inline constexpr Op narrow_op(CastPolicy::none, "narrow(x; dim=0, start=0, length=0)",
                              "A view keeps the type.", by_name<narrow>, not_forced);
/// x in row-major order (a copy only if it is not so already).
Tensor contiguous(const Tensor& x);
inline constexpr Op contiguous_op(CastPolicy::none, "contiguous(x)", "A copy keeps the type.",
                                  by_name<contiguous>, not_forced);
/// Joined along dim; mixed floats promote natively (no entry in the CUDA column).
Tensor cat(const TensorList& tensors, std::int64_t dim);
inline constexpr Op cat_op(CastPolicy::none, "cat(tensors[]; dim=0)",
                           "Not on the CUDA list: mixed inputs promote as in any element-wise op.",
                           by_name<cat>, not_forced);

}  // namespace engine
