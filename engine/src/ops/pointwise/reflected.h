#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* through_reciprocal =
    "Not on the list itself: number / x is reciprocal(x) * number, and the reciprocal is fp32.";

// Operations with a number on the left. They have no entry of their own: `rdiv` uses reciprocal and
// `rpow` uses pow, so both give f32 in a region, where x / 2 stays low
// (autocast.md#operation-lists, 1.9, 1.10).

/// number / x
Tensor div(double number, const Tensor& x);
inline constexpr Op rdiv_op(CastPolicy::none, "rdiv(x; other)", through_reciprocal,
                            by_name_as<Tensor(double, const Tensor&), div>, not_forced);
inline constexpr Op rtruediv_op(CastPolicy::none, "rtruediv(x; other)", through_reciprocal,
                                by_name_as<Tensor(double, const Tensor&), div>, not_forced);
/// number ** x
Tensor pow(double number, const Tensor& x);
TensorList run_rpow(const Op& op, const OpArguments& args);
inline constexpr Op rpow_op(CastPolicy::none, "rpow(x; other)",
                            "Not on the list itself: number ** x is pow, which is fp32.", run_rpow,
                            not_forced);

}  // namespace engine
