#pragma once

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* leaves_f16 =
    "For small x its slope overflows fp16, so it runs in fp32.";
inline constexpr const char* steep_at_its_pole =
    "Its slope grows without bound towards its pole, so it runs in fp32.";
inline constexpr const char* exp_overflows = "exp overflows fp16 above 11.09.";

Tensor neg(const Tensor& x);
inline constexpr Op neg_op(CastPolicy::none, "neg(x)", no_entry, by_name<neg>);
Tensor abs(const Tensor& x);
inline constexpr Op abs_op(CastPolicy::none, "abs(x)", no_entry, by_name<abs>);
/// Goes through pow, so f32 in a region (autocast.md#operation-lists, 1.9).
Tensor square(const Tensor& x);
inline constexpr Op square_op(CastPolicy::f32, "square(x)", "256 squared already overflows fp16.",
                              by_name<square>);
Tensor sqrt(const Tensor& x);
inline constexpr Op sqrt_op(CastPolicy::none, "sqrt(x)", no_entry, by_name<sqrt>);
Tensor rsqrt(const Tensor& x);
inline constexpr Op rsqrt_op(CastPolicy::f32, "rsqrt(x)", leaves_f16, by_name<rsqrt>);
Tensor reciprocal(const Tensor& x);
inline constexpr Op reciprocal_op(CastPolicy::f32, "reciprocal(x)", leaves_f16,
                                  by_name<reciprocal>);
Tensor exp(const Tensor& x);
inline constexpr Op exp_op(CastPolicy::f32, "exp(x)", exp_overflows, by_name<exp>);
/// 2 ** x
Tensor exp2(const Tensor& x);
inline constexpr Op exp2_op(CastPolicy::none, "exp2(x)", no_entry, by_name<exp2>);
Tensor expm1(const Tensor& x);
inline constexpr Op expm1_op(CastPolicy::f32, "expm1(x)", exp_overflows, by_name<expm1>);
Tensor log(const Tensor& x);
inline constexpr Op log_op(CastPolicy::f32, "log(x)", "Its slope 1/x overflows fp16 for small x.",
                           by_name<log>);
Tensor log1p(const Tensor& x);
inline constexpr Op log1p_op(CastPolicy::f32, "log1p(x)", steep_at_its_pole, by_name<log1p>);
Tensor log2(const Tensor& x);
inline constexpr Op log2_op(CastPolicy::f32, "log2(x)", steep_at_its_pole, by_name<log2>);
Tensor log10(const Tensor& x);
inline constexpr Op log10_op(CastPolicy::f32, "log10(x)", steep_at_its_pole, by_name<log10>);
Tensor erf(const Tensor& x);
inline constexpr Op erf_op(CastPolicy::none, "erf(x)", no_entry, by_name<erf>);
/// 1 - erf(x)
Tensor erfc(const Tensor& x);
inline constexpr Op erfc_op(CastPolicy::none, "erfc(x)", no_entry, by_name<erfc>);
/// The y with erf(y) = x: infinite at -1 and 1, NaN beyond.
Tensor erfinv(const Tensor& x);
inline constexpr Op erfinv_op(
    CastPolicy::f32, "erfinv(x)",
    "It is infinite at -1 and 1, and its slope near them magnifies any rounding of x.",
    by_name<erfinv>);

}  // namespace engine
