// exp, log, tanh and the logistic function of f32 vectors: at most 2 units in the last place from
// the exact value, infinities, NaN and subnormal results as in IEEE. Coefficients: Cephes, S.
// Moshier.

#if defined(KERNELS_CPU_ELEMENTWISE_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_ELEMENTWISE_MATH_INL_H
#undef KERNELS_CPU_ELEMENTWISE_MATH_INL_H
#else
#define KERNELS_CPU_ELEMENTWISE_MATH_INL_H
#endif

#include <limits>

#include "cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

/// c[0] x^(N-1) + ... + c[N-1]
template <std::size_t N>
HWY_INLINE VF polynomial(VF x, const float (&c)[N]) {
    VF sum = hn::Set(DF(), c[0]);
    for (std::size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, hn::Set(DF(), c[i]));
    return sum;
}

/// ln 2 in two parts; products of the first with exponents are exact.
constexpr float ln2_high = 0.693359375f;
constexpr float ln2_low = -2.12194440e-4f;

/// exp of x = count ln 2 + r, |r| <= ln 2 / 2, without the factor 2^count.
HWY_INLINE VF exp_fraction(VF x, VF count) {
    const DF d;
    VF r = hn::NegMulAdd(count, hn::Set(d, ln2_high), x);
    r = hn::NegMulAdd(count, hn::Set(d, ln2_low), r);
    const VF tail = polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                   4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
    return hn::Add(hn::MulAdd(hn::Mul(r, r), tail, r), hn::Set(d, 1.0f));
}

constexpr float exp_max = 89.0f;    ///< from here on exp is infinite
constexpr float exp_min = -104.0f;  ///< from here down it is 0
constexpr float log2_of_e = 1.44269504f;

HWY_INLINE VF exp_of(VF x) {
    const DF d;
#if HWY_TARGET == HWY_AVX3
    // AVX-512 multiplies by 2^count, rounding once. Its minimum is the second operand if one is
    // NaN.
    const VF bounded = {
        _mm512_max_ps(hn::Set(d, exp_min).raw, _mm512_min_ps(hn::Set(d, exp_max).raw, x.raw))};
    const VF count = hn::Round(hn::Mul(bounded, hn::Set(d, log2_of_e)));
    return {_mm512_scalef_ps(exp_fraction(bounded, count).raw, count.raw)};
#else
    const DI i32;
    const VF bounded = hn::Max(hn::Min(x, hn::Set(d, exp_max)), hn::Set(d, exp_min));
    const auto n = hn::NearestInt(hn::Mul(bounded, hn::Set(d, log2_of_e)));
    const VF power = exp_fraction(bounded, hn::ConvertTo(d, n));
    // 2^n in two factors: one alone would leave the range of f32 near both ends.
    const auto half = hn::ShiftRight<1>(n);
    const auto bias = hn::Set(i32, 127);
    const VF first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
    const VF second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(n, half), bias)));
    return hn::IfThenElse(hn::Eq(x, x), hn::Mul(hn::Mul(power, first), second), x);
#endif
}

HWY_INLINE VF log_of(VF x) {
    const DF d;
    const DI i32;
    const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-126f));
    const VF scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p25f)), x);
    // x = 2^e m with m from sqrt(1/2) to sqrt(2). Subtracting the bits of sqrt(1/2) moves the step
    // of the exponent field there.
    const auto shifted = hn::Sub(hn::BitCast(i32, scaled), hn::Set(i32, 0x3f3504f3));
    const auto fraction = hn::And(shifted, hn::Set(i32, 0x007fffff));
    const VF m = hn::BitCast(d, hn::Add(fraction, hn::Set(i32, 0x3f3504f3)));
    const VF e = hn::Sub(hn::ConvertTo(d, hn::ShiftRight<23>(shifted)),
                         hn::IfThenElseZero(tiny, hn::Set(d, 25.0f)));
    const VF t = hn::Sub(m, hn::Set(d, 1.0f));
    const VF t2 = hn::Mul(t, t);
    const VF series = polynomial(t, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                                     -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                                     2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
    VF low = hn::Mul(hn::Mul(t, t2), series);
    low = hn::MulAdd(e, hn::Set(d, ln2_low), low);
    low = hn::NegMulAdd(t2, hn::Set(d, 0.5f), low);
    VF result = hn::MulAdd(e, hn::Set(d, ln2_high), hn::Add(t, low));
    const VF infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    result = hn::IfThenElse(hn::Eq(x, infinity), x, result);
    result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
    return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), result, hn::BitCast(d, hn::Set(i32, 0x7fc00000)));
}

HWY_INLINE VF tanh_of(VF x) {
    const DF d;
    const VF one = hn::Set(d, 1.0f);
    const VF magnitude = hn::Abs(x);
    const VF grown = exp_of(hn::Add(magnitude, magnitude));
    const VF large = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(grown, one)));
    const VF square = hn::Mul(x, x);
    const VF tail = polynomial(square, {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f,
                                        1.33314422036e-1f, -3.33332819422e-1f});
    const VF small = hn::MulAdd(hn::Mul(tail, square), x, x);
    // The sum in `small` loses the sign of -0.
    return hn::CopySign(hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), small, large), x);
}

HWY_INLINE VF sigmoid_of(VF x) {
    const DF d;
    const VF one = hn::Set(d, 1.0f);
    const VF e = exp_of(hn::Neg(hn::Abs(x)));
    return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
