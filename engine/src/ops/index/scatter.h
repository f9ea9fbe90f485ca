#pragma once

#include <string>

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* needs_equal_types =
    "Not on the list: both sides must have one type, under autocast too.";

// Writing by index; see gather.h for indices. Equal types always, inside a region too
// (autocast.md#operations-without-an-entry, 1.11).

/// x with source[.., i, ..] written to [.., index[.., i, ..], ..] along `dim`. The last of several
/// at one place stays. Sizes as in scatter_add. Any type.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
/// Scatters one number to all places.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value);
TensorList run_scatter(const Op& op, const OpArguments& args);
inline constexpr Op scatter_op(CastPolicy::none, "scatter(x, index, src?; dim=0, value=None)",
                               needs_equal_types, run_scatter, not_forced);

/// Scatters, but reduces the elements that go to one place by sum, prod, mean, amax or amin,
/// together with x's own element if `include_self`. Computed in f32 (f64 for f64) and rounded once.
/// Equal extremes share the gradient. Floating types. Throws Error(value) for another `reduce`.
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                      const std::string& reduce, bool include_self = true);
inline constexpr Op scatter_reduce_op(
    CastPolicy::none, "scatter_reduce(x, index, src; dim=0, reduce='sum', include_self=True)",
    needs_equal_types, by_name<scatter_reduce>, not_forced);

/// x with source[.., i, ..] put at [.., index[i], ..] along `dim`; of several the last stays. Any
/// type.
Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
inline constexpr Op index_copy_op(CastPolicy::none, "index_copy(x, index, source; dim=0)",
                                  needs_equal_types, by_name<index_copy>, not_forced);

}  // namespace engine
