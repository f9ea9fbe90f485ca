#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo isnan_info, isinf_info, isfinite_info, logical_not_info, logical_and_info,
    logical_or_info, logical_xor_info;

// Element-wise; bool results, no gradient. Any type; a number that is not 0, NaN too, counts as
// true.
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);
Tensor logical_not(const Tensor& x);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);

}  // namespace engine
