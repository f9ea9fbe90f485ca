#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* tests_values =
    "Tests values and returns bool: there is no arithmetic to cast for.";

inline constexpr const char* compares_in_the_wider =
    "Compares in the wider of the two types; the result is bool.";

// Element-wise; bool results, compared in the wider type; no gradient.
Tensor equal(const Tensor& a, const Tensor& b);
inline constexpr Op eq_op(CastPolicy::none, "eq(x, y)", compares_in_the_wider, by_name<equal>,
                          no_gradient);
Tensor not_equal(const Tensor& a, const Tensor& b);
inline constexpr Op ne_op(CastPolicy::none, "ne(x, y)", compares_in_the_wider, by_name<not_equal>,
                          no_gradient);
Tensor less(const Tensor& a, const Tensor& b);
inline constexpr Op lt_op(CastPolicy::none, "lt(x, y)", compares_in_the_wider, by_name<less>,
                          no_gradient);
Tensor less_equal(const Tensor& a, const Tensor& b);
inline constexpr Op le_op(CastPolicy::none, "le(x, y)", compares_in_the_wider, by_name<less_equal>,
                          no_gradient);
Tensor greater(const Tensor& a, const Tensor& b);
inline constexpr Op gt_op(CastPolicy::none, "gt(x, y)", compares_in_the_wider, by_name<greater>,
                          no_gradient);
Tensor greater_equal(const Tensor& a, const Tensor& b);
inline constexpr Op ge_op(CastPolicy::none, "ge(x, y)", compares_in_the_wider,
                          by_name<greater_equal>, no_gradient);
/// condition ? a : b, broadcast; a and b promote.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
inline constexpr Op where_op(CastPolicy::none, "where(condition, x, y)",
                             "Chooses values; mixed types promote.", by_name<where>, not_forced);

// Element-wise; bool results, no gradient. Any type; a number that is not 0, NaN too, counts as
// true.
Tensor isnan(const Tensor& x);
inline constexpr Op isnan_op(CastPolicy::none, "isnan(x)", tests_values, by_name<isnan>,
                             no_gradient);
Tensor isinf(const Tensor& x);
inline constexpr Op isinf_op(CastPolicy::none, "isinf(x)", tests_values, by_name<isinf>,
                             no_gradient);
Tensor isfinite(const Tensor& x);
inline constexpr Op isfinite_op(CastPolicy::none, "isfinite(x)", tests_values, by_name<isfinite>,
                                no_gradient);
Tensor logical_not(const Tensor& x);
inline constexpr Op logical_not_op(CastPolicy::none, "logical_not(x)", tests_values,
                                   by_name<logical_not>, no_gradient);
Tensor logical_and(const Tensor& a, const Tensor& b);
inline constexpr Op logical_and_op(CastPolicy::none, "logical_and(x, y)", tests_values,
                                   by_name<logical_and>, no_gradient);
Tensor logical_or(const Tensor& a, const Tensor& b);
inline constexpr Op logical_or_op(CastPolicy::none, "logical_or(x, y)", tests_values,
                                  by_name<logical_or>, no_gradient);
Tensor logical_xor(const Tensor& a, const Tensor& b);
inline constexpr Op logical_xor_op(CastPolicy::none, "logical_xor(x, y)", tests_values,
                                   by_name<logical_xor>, no_gradient);

}  // namespace engine
