#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* steep_ends =
    "Its slope grows without bound near -1 and 1 and magnifies fp16's rounding there.";
inline constexpr const char* grows_exponentially =
    "It grows like exp, which overflows fp16 above 11.09.";

// Radians. NaN outside the domain; the slope at its ends is infinite.
Tensor sin(const Tensor& x);
inline constexpr Op sin_op(CastPolicy::none, "sin(x)", no_entry, by_name<sin>);
Tensor cos(const Tensor& x);
inline constexpr Op cos_op(CastPolicy::none, "cos(x)", no_entry, by_name<cos>);
Tensor acos(const Tensor& x);
inline constexpr Op acos_op(CastPolicy::f32, "acos(x)", steep_ends, by_name<acos>);
Tensor asin(const Tensor& x);
inline constexpr Op asin_op(CastPolicy::f32, "asin(x)", steep_ends, by_name<asin>);
Tensor atan(const Tensor& x);
inline constexpr Op atan_op(CastPolicy::none, "atan(x)", no_entry, by_name<atan>);
Tensor tan(const Tensor& x);
inline constexpr Op tan_op(CastPolicy::f32, "tan(x)", "It has poles, near which it overflows fp16.",
                           by_name<tan>);
Tensor cosh(const Tensor& x);
inline constexpr Op cosh_op(CastPolicy::f32, "cosh(x)", grows_exponentially, by_name<cosh>);
Tensor sinh(const Tensor& x);
inline constexpr Op sinh_op(CastPolicy::f32, "sinh(x)", grows_exponentially, by_name<sinh>);
Tensor acosh(const Tensor& x);
inline constexpr Op acosh_op(CastPolicy::none, "acosh(x)", no_entry, by_name<acosh>);
Tensor asinh(const Tensor& x);
inline constexpr Op asinh_op(CastPolicy::none, "asinh(x)", no_entry, by_name<asinh>);
Tensor atanh(const Tensor& x);
inline constexpr Op atanh_op(CastPolicy::none, "atanh(x)", no_entry, by_name<atanh>);

}  // namespace engine
