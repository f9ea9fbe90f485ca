#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* copies_values = "Copies values: nothing is lost in its input's type.";

// Indices are i64 or i32 and have no gradient. An out-of-range one is Error(value), which on a GPU
// the next read throws (tensor/check_values.h). There the element read is NaN (integers: 0), and a
// sum into it makes the whole result NaN.

/// y[.., i, ..] = x[.., index[i], ..] along `dim`; index has rank 1 or 0. Any type.
Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index);
inline constexpr Op index_select_op(CastPolicy::none, "index_select(x, index; dim=0)",
                                    copies_values, by_name<index_select>, not_forced);
/// Selects rows as index_select() does, and rows of zeros where the index is -1. index must be i64,
/// row-major, of rank 1 and in [-1, size). Not checked: for ops that compute the index themselves.
Tensor rows_or_zeros(const Tensor& x, std::int64_t dim, const Tensor& index);
/// rows_or_zeros() of an index that names each row once at most. `inverse` says of each row of x
/// which row of the result it becomes, -1: none. So the gradient is a selection, too, by the
/// inverse, where that of any index has to sort it and add up.
Tensor selected_once(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& inverse);
/// The gradient of rows_or_zeros(): zeros of `shape` with the rows of dy added at the indices; -1:
/// nowhere.
Tensor rows_added(const Tensor& dy, const Shape& shape, std::int64_t dim, const Tensor& index);

/// y[.., i, ..] = x[.., index[.., i, ..], ..] along `dim`; index of x's rank, no larger than x in
/// the other dimensions. Any type.
Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index);
inline constexpr Op gather_op(CastPolicy::none, "gather(x, index; dim=0)", copies_values,
                              by_name<gather>, not_forced);

/// x with alpha * source[.., i, ..] added to [.., index[i], ..] along `dim`. Equal types, inside a
/// region too. Sums run in f32 (f64 for f64) and are rounded once, always in the same order.
Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                 double alpha = 1);
inline constexpr Op index_add_op(
    CastPolicy::none, "index_add(x, index, source; dim=0, alpha=1)",
    "Not on the list: both sides must have one type, and the sum is rounded to it once.",
    by_name<index_add>);
/// x with source[.., i, ..] added to [.., index[.., i, ..], ..] along `dim`; index no larger than
/// source in any, nor than x in the other dimensions. Equal types outside a region.
Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
inline constexpr Op scatter_add_op(
    CastPolicy::promote, "scatter_add(x, index, src; dim=0)",
    "Needs one type: both sides go to the wider, so that an fp32 side loses nothing.",
    by_name<scatter_add>);

/// x cut to the sizes of `extent`, but in dimension `but` (-1: in all); a view on the tape.
Tensor cut_to(const Tensor& x, const Shape& extent, int but = -1);
/// Throws Error(shape) unless index has x's rank and is no larger, but in dimension `but`.
void check_extent(const Op& info, const Tensor& index, const Tensor& x, int but = -1);

}  // namespace engine
