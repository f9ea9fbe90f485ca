#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo eq_info, ne_info, lt_info, le_info, gt_info, ge_info, where_info;

// Element-wise; bool results, compared in the wider type; no gradient.
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
/// condition ? a : b, broadcast; a and b promote.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

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
