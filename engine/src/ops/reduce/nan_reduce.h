#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo nansum_info, nanmean_info;

// Reductions over `dims` (empty: all) that ignore NaN. No autocast entry: the result has x's type,
// or `dtype`, to which x is cast first. Computed in f32 (f64 for f64).

Tensor nansum(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
              std::optional<DType> dtype = {});
/// NaN where nothing is left, and so is the gradient there.
Tensor nanmean(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
               std::optional<DType> dtype = {});

}  // namespace engine
