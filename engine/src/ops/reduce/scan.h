#pragma once

#include "tensor/tape.h"

namespace engine {

/// y[k] = x[0] + ... + x[k] along dim, in f32 (f64 for f64). Without `dtype`: x's type, f32 in a
/// region; with it x is cast first. Integers add up in i64, exactly below 2^53. A 0-d tensor is one
/// element.
Tensor cumsum(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
inline constexpr Op cumsum_op(CastPolicy::f32_dtype, "cumsum(x; dim=0, dtype=None)",
                              "A running sum outgrows the range and the precision of fp16.",
                              by_name<cumsum>);
/// Running products. The gradient does not divide, so zeros are no exception.
Tensor cumprod(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
inline constexpr Op cumprod_op(
    CastPolicy::f32_dtype, "cumprod(x; dim=0, dtype=None)",
    "Products overflow and underflow fp16, so it reads fp16 and writes fp32.", by_name<cumprod>);
/// Product of all elements, or along one dim; types as in cumsum. Its gradient does not divide, so
/// zeros are no problem.
Tensor prod(const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false,
            std::optional<DType> dtype = {});
inline constexpr Op prod_op(CastPolicy::f32_dtype, "prod(x; dim=None, keepdim=False, dtype=None)",
                            "A product of many numbers soon overflows or underflows fp16.",
                            by_name<prod>);

}  // namespace engine
