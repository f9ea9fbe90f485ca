#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo cumsum_info, cumprod_info, prod_info;

/// y[k] = x[0] + ... + x[k] along dim, in f32 (f64 for f64). Without `dtype`: x's type, f32 in a
/// region; with it x is cast first. Integers add up in i64, exactly below 2^53. A 0-d tensor is one
/// element.
Tensor cumsum(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
/// Running products. The gradient does not divide, so zeros are no exception.
Tensor cumprod(const Tensor& x, std::int64_t dim, std::optional<DType> dtype = {});
/// Product of all elements, or along one dim; types as in cumsum. Its gradient does not divide, so
/// zeros are no problem.
Tensor prod(const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false,
            std::optional<DType> dtype = {});

}  // namespace engine
