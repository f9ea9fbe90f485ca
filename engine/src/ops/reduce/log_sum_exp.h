#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo logsumexp_info;

/// log(sum(exp(x))) over `dims` (empty: all), without overflow. Policy f32. The gradient is the
/// softmax; NaN where the result is infinite.
Tensor logsumexp(const Tensor& x, const std::vector<std::int64_t>& dims, bool keepdim = false);

}  // namespace engine
