#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo softmax_info, log_softmax_info, softmin_info;

/// exp(x - max) / sum exp(x - max) along dim; sums and exp in f32 (f64 for f64). Without `dtype`:
/// x's type, f32 in a region (policy f32_dtype: reads low, writes f32).
Tensor softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
/// x - max - log(sum exp(x - max)) along dim; types as softmax.
Tensor log_softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
/// softmax(scores, -1) for attention. A fully masked (all -inf) row yields 0, not NaN, and has the
/// gradient 0.
Tensor masked_softmax(const Tensor& scores);
/// softmax(-x): it goes through softmax, so its types are softmax's.
Tensor softmin(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});

extern const OpInfo logsumexp_info;

/// log(sum(exp(x))) over `dims` (empty: all), without overflow. Policy f32. The gradient is the
/// softmax; NaN where the result is infinite.
Tensor logsumexp(const Tensor& x, const std::vector<std::int64_t>& dims, bool keepdim = false);

}  // namespace engine
