#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo masked_fill_info, masked_scatter_info, tril_info, triu_info;

/// x where the mask (bool) is false, else the number; x and mask broadcast. Any type.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
/// Fills with a 0-d tensor, rounded to x's type.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);
/// x where the mask (bool, broadcast to x's shape) is false. The k-th true place, in row-major
/// order, takes element k of source. Equal types, inside a region too. Too short a source is
/// Error(value), on a GPU at the next read (tensor/check_values.h), where the missing elements are
/// NaN (integers: 0).
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);
/// Zero above diagonal `diagonal` of the last two dimensions (0: the main one, above it positive).
Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
/// Zero below it.
Tensor triu(const Tensor& x, std::int64_t diagonal = 0);

}  // namespace engine
