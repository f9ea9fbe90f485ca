#pragma once

#include "tensor/tape.h"

namespace engine {

/// exp(x - max) / sum exp(x - max) along dim; sums and exp in f32 (f64 for f64). Without `dtype`:
/// x's type, f32 in a region (policy f32_dtype: reads low, writes f32).
Tensor softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
inline constexpr Op softmax_op(CastPolicy::f32_dtype, "softmax(x; dim=-1, dtype=None)",
                               "exp() overflows fp16 above 11.09, so it computes and writes fp32.",
                               by_name<softmax>);
/// x - max - log(sum exp(x - max)) along dim; types as softmax.
Tensor log_softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
inline constexpr Op log_softmax_op(CastPolicy::f32_dtype, "log_softmax(x; dim=-1, dtype=None)",
                                   "Sums of exp() overflow fp16, so it computes and writes fp32.",
                                   by_name<log_softmax>);
/// softmax(scores, -1) for attention. A fully masked (all -inf) row yields 0, not NaN, and has the
/// gradient 0.
Tensor masked_softmax(const Tensor& scores);
/// softmax(-x): it goes through softmax, so its types are softmax's.
Tensor softmin(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
inline constexpr Op softmin_op(CastPolicy::f32_dtype, "softmin(x; dim=-1, dtype=None)",
                               "It is softmax of -x, not on the list itself, and follows softmax.",
                               by_name<softmin>);

/// log(sum(exp(x))) over `dims` (empty: all), without overflow. Policy f32. The gradient is the
/// softmax; NaN where the result is infinite.
Tensor logsumexp(const Tensor& x, const std::vector<std::int64_t>& dims, bool keepdim = false);
inline constexpr Op logsumexp_op(CastPolicy::f32, "logsumexp(x; dim=[], keepdim=False)",
                                 "Sums of exp() overflow fp16, so it runs in fp32.",
                                 by_name<logsumexp>);

}  // namespace engine
