#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* sums_many =
    "Not on the list: adds in fp32 and rounds the result to its input's type.";

inline constexpr const char* counts_values =
    "A count or an answer is a whole number: there is no precision to lose.";

/// Autocast does not list it: the mean of an f16 tensor is f16.
Tensor mean(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {});
inline constexpr Op mean_op(
    CastPolicy::none, "mean(x; dim=[], keepdim=False, dtype=None)",
    "Not on the list: adds in fp32 and rounds the result to its input's type.", by_name<mean>);
/// Index of the first largest along dim, or of all elements in row-major order, i64.
Tensor argmax(const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
inline constexpr Op argmax_op(CastPolicy::none, "argmax(x; dim=None, keepdim=False)",
                              "The result is an index, which has no precision to lose.",
                              by_name<argmax>, no_gradient);
/// argmax or argmin of all elements.
Tensor of_all(Tensor (*place)(const Tensor&, std::optional<std::int64_t>, bool), const Tensor& x,
              bool keepdim);

// Over `dims` (empty: all), of any type; a NaN is not zero. No gradient.

/// Bool: whether none is zero, whether not all are.
Tensor all(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
inline constexpr Op all_op(CastPolicy::none, "all(x; dim=[], keepdim=False)", counts_values,
                           by_name<all>, no_gradient);
Tensor any(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false);
inline constexpr Op any_op(
    CastPolicy::none, "any(x; dim=[], keepdim=False)", counts_values,
    by_name_as<Tensor(const Tensor&, const std::vector<std::int64_t>&, bool), any>,
    no_gradient);
/// How many are not zero, i64; the dimensions are not kept.
Tensor count_nonzero(const Tensor& x, const std::vector<std::int64_t>& dims = {});
inline constexpr Op count_nonzero_op(CastPolicy::none, "count_nonzero(x; dim=[])", counts_values,
                                     by_name<count_nonzero>, no_gradient);

// Reductions over `dims` (empty: all) that ignore NaN. No autocast entry: the result has x's type,
// or `dtype`, to which x is cast first. Computed in f32 (f64 for f64).

Tensor nansum(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
              std::optional<DType> dtype = {});
inline constexpr Op nansum_op(CastPolicy::none, "nansum(x; dim=[], keepdim=False, dtype=None)",
                              sums_many, by_name<nansum>);
/// NaN where nothing is left, and so is the gradient there.
Tensor nanmean(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
               std::optional<DType> dtype = {});
inline constexpr Op nanmean_op(CastPolicy::none, "nanmean(x; dim=[], keepdim=False, dtype=None)",
                               sums_many, by_name<nanmean>);

}  // namespace engine
