#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo sort_info, argsort_info, topk_info, median_info, max_info, min_info;

// Order statistics along one dimension: the chosen values, and their places there as i64. A NaN
// counts as largest. Among equal elements the first in memory is chosen first, on every device;
// PyTorch leaves that open. Values have x's type, and their gradient goes to the chosen places. A
// 0-d tensor is one element. Error(shape) for nothing to choose from.

struct Ordered {
    Tensor values, indices;
};

/// All of the dimension in ascending or descending order; stable. sort, argsort and topk take any
/// type, the others floating ones.
Ordered sort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
Tensor argsort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
/// The k largest (least), in descending (ascending) order.
Ordered topk(const Tensor& x, std::int64_t k, std::int64_t dim = -1, bool largest = true);
/// The lower one of the two in the middle of an even number. NaN if any is NaN: the first.
Ordered median(const Tensor& x, std::int64_t dim, bool keepdim = false);
/// Median of all elements, 0-d; equal ones share the gradient. NaN if there are none.
Tensor median(const Tensor& x);
/// Largest, least: NaN if any is NaN.
Ordered max(const Tensor& x, std::int64_t dim, bool keepdim = false);
Ordered min(const Tensor& x, std::int64_t dim, bool keepdim = false);
/// Extremes of all elements, 0-d. Equal ones share the gradient; where the result is NaN its places
/// do.
Tensor max(const Tensor& x);
Tensor min(const Tensor& x);

}  // namespace engine
