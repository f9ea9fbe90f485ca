#pragma once

#include <string>

#include "tensor/tape.h"

namespace engine {

extern const OpInfo scatter_info, scatter_reduce_info, index_copy_info;

// Writing by index; see gather.h for indices. Equal types always, inside a region too
// (autocast.md#operations-without-an-entry, 1.11).

/// x with source[.., i, ..] written to [.., index[.., i, ..], ..] along `dim`. The last of several
/// at one place stays. Sizes as in scatter_add. Any type.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);
/// Scatters one number to all places.
Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value);

/// Scatters, but reduces the elements that go to one place by sum, prod, mean, amax or amin,
/// together with x's own element if `include_self`. Computed in f32 (f64 for f64) and rounded once.
/// Equal extremes share the gradient. Floating types. Throws Error(value) for another `reduce`.
Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                      const std::string& reduce, bool include_self = true);

/// x with source[.., i, ..] put at [.., index[i], ..] along `dim`; of several the last stays. Any
/// type.
Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source);

}  // namespace engine
