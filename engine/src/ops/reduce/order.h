#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* orders_values =
    "It chooses among its inputs: nothing is computed, so no precision is lost.";

// Order statistics along one dimension: the chosen values, and their places there as i64. A NaN
// counts as largest. Among equal elements the first in memory is chosen first, on every device;
// PyTorch leaves that open. Values have x's type, and their gradient goes to the chosen places. A
// 0-d tensor is one element. Error(shape) for nothing to choose from.

struct Ordered {
    Tensor values, indices;
};

/// Runner of an op that works along a dimension, or on all elements without one.
template <Ordered (*along)(const Tensor&, std::int64_t, bool), Tensor (*of_all)(const Tensor&)>
TensorList run_ordered(const Op&, const OpArguments& args) {
    if (!args.has("dim")) return {of_all(args.at(0))};
    const Ordered found = along(args.at(0), args.integer("dim", 0), args.flag("keepdim", false));
    return {found.values, found.indices};
}

/// All of the dimension in ascending or descending order; stable. sort, argsort and topk take any
/// type, the others floating ones.
Ordered sort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
inline constexpr Op sort_op(CastPolicy::none, "sort(x; dim=-1, descending=False, stable=False)",
                            orders_values, by_name<sort>, not_forced);
Tensor argsort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
inline constexpr Op argsort_op(CastPolicy::none,
                               "argsort(x; dim=-1, descending=False, stable=False)",
                               "The result is an index, which has no precision to lose.",
                               by_name<argsort>, no_gradient);
/// The k largest (least), in descending (ascending) order.
Ordered topk(const Tensor& x, std::int64_t k, std::int64_t dim = -1, bool largest = true);
inline constexpr Op topk_op(CastPolicy::none, "topk(x; k, dim=-1, largest=True, sorted=True)",
                            orders_values, by_name<topk>, not_forced);
/// The lower one of the two in the middle of an even number. NaN if any is NaN: the first.
Ordered median(const Tensor& x, std::int64_t dim, bool keepdim = false);
/// Median of all elements, 0-d; equal ones share the gradient. NaN if there are none.
Tensor median(const Tensor& x);
inline constexpr Op median_op(CastPolicy::none, "median(x; dim=None, keepdim=False)", orders_values,
                              run_ordered<median, median>);
/// Largest, least: NaN if any is NaN.
Ordered max(const Tensor& x, std::int64_t dim, bool keepdim = false);
Ordered min(const Tensor& x, std::int64_t dim, bool keepdim = false);
/// Extremes of all elements, 0-d. Equal ones share the gradient; where the result is NaN its places
/// do.
Tensor max(const Tensor& x);
inline constexpr Op max_op(CastPolicy::none, "max(x; dim=None, keepdim=False)", orders_values,
                           run_ordered<max, max>);
Tensor min(const Tensor& x);
inline constexpr Op min_op(CastPolicy::none, "min(x; dim=None, keepdim=False)", orders_values,
                           run_ordered<min, min>);

}  // namespace engine
