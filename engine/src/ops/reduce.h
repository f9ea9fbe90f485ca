#pragma once

#include "core/autograd.h"

namespace engine {

extern const OpInfo sum_info, mean_info, argmax_info;

/// Sum over `dims` (empty: all); accumulates in f32 whatever the storage (f64 for f64). Without
/// `dtype`: x's type, f32 in a region (policy f32_dtype: reads low, writes f32). Integers sum in
/// i64.
Tensor sum(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
           std::optional<DType> dtype = {});
/// Not listed: the mean of an fp16 tensor is fp16.
Tensor mean(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {});
/// Index of the first largest along dim, i64.
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim = false);

}  // namespace engine
