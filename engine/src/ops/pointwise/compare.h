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

}  // namespace engine
