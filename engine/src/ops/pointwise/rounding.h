#pragma once

#include <optional>

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* runs_in_the_wider =
    "Not on the autocast list: runs in the wider of its inputs' types.";

// Their gradient is zero.
Tensor floor(const Tensor& x);
inline constexpr Op floor_op(CastPolicy::none, "floor(x)", no_entry, by_name<floor>);
Tensor ceil(const Tensor& x);
inline constexpr Op ceil_op(CastPolicy::none, "ceil(x)", no_entry, by_name<ceil>);
/// Rounds to the nearest integer, halves to the even one.
Tensor round(const Tensor& x);
inline constexpr Op round_op(CastPolicy::none, "round(x)", no_entry, by_name<round>);
/// Towards zero.
Tensor trunc(const Tensor& x);
inline constexpr Op trunc_op(CastPolicy::none, "trunc(x)", no_entry, by_name<trunc>);
/// -1, 0 or 1; 0 for NaN.
Tensor sign(const Tensor& x);
inline constexpr Op sign_op(CastPolicy::none, "sign(x)", no_entry, by_name<sign>);

/// min(max(x, low), high); a bound that is not given is not applied. The gradient passes where x is
/// within the bounds, not at them.
Tensor clamp(const Tensor& x, std::optional<double> low, std::optional<double> high);
inline constexpr Op clamp_op(CastPolicy::none, "clamp(x; min=None, max=None)", no_entry,
                             by_name<clamp>);

// The remainder of a division by b, computed exactly; floating, promotes. fmod is a - b trunc(a /
// b) and has the sign of a.
Tensor fmod(const Tensor& a, const Tensor& b);
inline constexpr Op fmod_op(CastPolicy::none, "fmod(x, y)", runs_in_the_wider, by_name<fmod>);
/// a - b floor(a / b): has the sign of b.
Tensor remainder(const Tensor& a, const Tensor& b);
inline constexpr Op remainder_op(CastPolicy::none, "remainder(x, y)", runs_in_the_wider,
                                 by_name<remainder>);

}  // namespace engine
