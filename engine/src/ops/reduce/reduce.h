#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo mean_info, argmax_info;

/// Autocast does not list it: the mean of an f16 tensor is f16.
Tensor mean(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {});
/// Index of the first largest along dim, i64.
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim = false);

extern const OpInfo all_info, any_info, count_nonzero_info;

// Over `dims` (empty: all), of any type; a NaN is not zero. No gradient.

/// Bool: whether none is zero, whether not all are.
Tensor all(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
Tensor any(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
/// How many are not zero, i64; the dimensions are not kept.
Tensor count_nonzero(const Tensor& x, const std::vector<std::int64_t>& dims = {});

extern const OpInfo nansum_info, nanmean_info;

// Reductions over `dims` (empty: all) that ignore NaN. No autocast entry: the result has x's type,
// or `dtype`, to which x is cast first. Computed in f32 (f64 for f64).

Tensor nansum(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
              std::optional<DType> dtype = {});
/// NaN where nothing is left, and so is the gradient there.
Tensor nanmean(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
               std::optional<DType> dtype = {});

}  // namespace engine
