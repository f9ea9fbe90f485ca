#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* all_to_the_widest =
    "All three go to the widest type, so that an fp32 one loses nothing.";

// Element-wise, with broadcasting; one rounding of the result and of each gradient.

/// x + value * a * b; floating, promotes.
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
inline constexpr Op addcmul_op(CastPolicy::promote, "addcmul(x, t1, t2; value=1)",
                               all_to_the_widest, by_name<addcmul>);
/// x + value * a / b; floating, promotes.
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
inline constexpr Op addcdiv_op(CastPolicy::promote, "addcdiv(x, t1, t2; value=1)",
                               all_to_the_widest, by_name<addcdiv>);
/// x + weight * (end - x), exactly x at weight 0 and end at 1. All of one type
/// (autocast.md#operations-without-an-entry, 1.11), else Error(dtype), in a region too.
Tensor lerp(const Tensor& x, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& x, const Tensor& end, double weight);
TensorList run_lerp(const Op& op, const OpArguments& args);
inline constexpr Op lerp_op(
    CastPolicy::none, "lerp(x, end, weight?; weight=None)",
    "Not on the autocast list, and it promotes nothing: its inputs must be of "
    "one type.",
    run_lerp);

}  // namespace engine
