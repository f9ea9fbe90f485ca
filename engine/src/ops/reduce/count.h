#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo all_info, any_info, count_nonzero_info;

// Over `dims` (empty: all), of any type; a NaN is not zero. No gradient.

/// Bool: whether none is zero, whether not all are.
Tensor all(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
Tensor any(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
/// How many are not zero, i64; the dimensions are not kept.
Tensor count_nonzero(const Tensor& x, const std::vector<std::int64_t>& dims = {});

}  // namespace engine
