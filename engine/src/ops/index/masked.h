#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* keeps_its_type = "Not on the list: keeps its input's type.";

/// x where the mask (bool) is false, else the number; x and mask broadcast. Any type.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
/// Fills with a 0-d tensor, rounded to x's type.
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);
TensorList run_masked_fill(const Op& op, const OpArguments& args);
inline constexpr Op masked_fill_op(CastPolicy::none, "masked_fill(x, mask, value?; value=None)",
                                   keeps_its_type, run_masked_fill, not_forced);
/// x where the mask (bool, broadcast to x's shape) is false. The k-th true place, in row-major
/// order, takes element k of source. Equal types, inside a region too. Too short a source is
/// Error(value), on a GPU at the next read (tensor/check_values.h), where the missing elements are
/// NaN (integers: 0).
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);
inline constexpr Op masked_scatter_op(
    CastPolicy::none, "masked_scatter(x, mask, source)",
    "Not on the list: both sides must have one type, under autocast too.", by_name<masked_scatter>,
    not_forced);
/// Zero above diagonal `diagonal` of the last two dimensions (0: the main one, above it positive).
Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
inline constexpr Op tril_op(CastPolicy::none, "tril(x; diagonal=0)", keeps_its_type, by_name<tril>,
                            not_forced);
/// Zero below it.
Tensor triu(const Tensor& x, std::int64_t diagonal = 0);
inline constexpr Op triu_op(CastPolicy::none, "triu(x; diagonal=0)", keeps_its_type, by_name<triu>,
                            not_forced);

}  // namespace engine
