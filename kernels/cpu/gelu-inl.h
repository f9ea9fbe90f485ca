// gelu, its tanh form and their derivatives for vectors of f32, computed in double: both
// derivatives are sums that cancel, and exp multiplies the error of its argument. Include after
// hwy/highway.h in a file that goes through foreach_target.

#if defined(KERNELS_CPU_GELU_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_GELU_INL_H
#undef KERNELS_CPU_GELU_INL_H
#else
#define KERNELS_CPU_GELU_INL_H
#endif

#include "cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

// One lane has no halves.
#if HWY_TARGET == HWY_SCALAR
using DHalf = DF;
#else
using DHalf = hn::Half<DF>;
#endif
using DW = hn::Rebind<double, DHalf>;
using VW = hn::Vec<DW>;

HWY_INLINE VW wide_constant(double x) { return hn::Set(DW(), x); }

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE VW wide_low(VF x) { return hn::PromoteTo(DW(), x); }
HWY_INLINE VW wide_high(VF x) { return wide_low(x); }
// Not DemoteTo, which clamps to the range of f32 on this target.
HWY_INLINE VF narrow_halves(VW low, VW) {
    return hn::Set(DF(), static_cast<float>(hn::GetLane(low)));
}
#else
HWY_INLINE VW wide_low(VF x) { return hn::PromoteTo(DW(), hn::LowerHalf(DHalf(), x)); }
HWY_INLINE VW wide_high(VF x) { return hn::PromoteTo(DW(), hn::UpperHalf(DHalf(), x)); }
HWY_INLINE VF narrow_halves(VW low, VW high) {
    return hn::Combine(DF(), hn::DemoteTo(DHalf(), high), hn::DemoteTo(DHalf(), low));
}
#endif

/// f of double vectors, applied to the two halves of f32 vectors.
template <class F>
HWY_INLINE VF through_double(VF x, const F& f) {
    return narrow_halves(f(wide_low(x)), f(wide_high(x)));
}
template <class F>
HWY_INLINE VF through_double(VF a, VF b, const F& f) {
    return narrow_halves(f(wide_low(a), wide_low(b)), f(wide_high(a), wide_high(b)));
}

/// c[0] x^(N-1) + ... + c[N-1]
template <std::size_t N>
HWY_INLINE VW wide_polynomial(VW x, const double (&c)[N]) {
    VW sum = wide_constant(c[0]);
    for (std::size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, wide_constant(c[i]));
    return sum;
}

/// exp(-x) for x >= 0, relative error below 3e-10; 0 from 200 on, where f32 has long nothing.
HWY_INLINE VW decay(VW x) {
    const DW d;
    const hn::RebindToUnsigned<DW> u64;
    const auto vanished = hn::Gt(x, wide_constant(200));
    const VW y = hn::Neg(hn::Min(x, wide_constant(200)));
    // Added to 1.5 * 2^52, a number is rounded to an integer in the lowest bits.
    const VW shift = wide_constant(0x1.8p52);
    const VW shifted = hn::MulAdd(y, wide_constant(1.4426950408889634), shift);
    const VW count = hn::Sub(shifted, shift);
    const VW r = hn::NegMulAdd(count, wide_constant(0.6931471805599453), y);
    const VW tail =
        wide_polynomial(r, {1.989927672390e-04, 1.393364599089e-03, 8.333298479517e-03,
                            4.166646493907e-02, 1.666666671901e-01, 5.000000013473e-01});
    const VW power = hn::Add(hn::MulAdd(hn::Mul(r, r), tail, r), wide_constant(1));
    const VW result = hn::BitCast(
        d, hn::Add(hn::BitCast(u64, power), hn::ShiftLeft<52>(hn::BitCast(u64, shifted))));
    return hn::IfThenZeroElse(vanished, result);
}

/// The standard normal distribution at x, and exp(-x^2 / 2).
struct NormalAt {
    VW cumulative, bell;
};

HWY_INLINE NormalAt normal_at(VW x) {
    const VW size = hn::Abs(x), one = wide_constant(1);
    const VW bell = decay(hn::Mul(hn::Mul(x, x), wide_constant(0.5)));
    // (1 + |x|) times the tail beyond |x|, divided by the bell: a smooth function of (|x| - 4) /
    // (|x| + 4), fitted to 2.4e-9 up to 21. The bell is 0 beyond 20.
    const VW near = hn::Min(size, wide_constant(21));
    const VW t = hn::Div(hn::Sub(near, wide_constant(4)), hn::Add(near, wide_constant(4)));
    const VW fitted = wide_polynomial(
        t, {-7.450260104201e-05, -6.730625798935e-05, 6.901596557606e-04, -2.999107889200e-04,
            -5.001708538229e-03, 1.793958476102e-02, -3.219789236539e-02, 2.860000331248e-02,
            1.399964066781e-02, -9.670346667357e-02, 4.720532063677e-01});
    const VW tail = hn::Mul(bell, hn::Div(fitted, hn::Add(near, one)));
    return {hn::IfThenElse(hn::Lt(x, hn::Zero(DW())), tail, hn::Sub(one, tail)), bell};
}

/// NaN at -infinity, as the product gives: an overflow before it must not vanish.
HWY_INLINE VW wide_gelu(VW x) { return hn::Mul(x, normal_at(x).cumulative); }
HWY_INLINE VW wide_gelu_grad(VW x) {
    const NormalAt at = normal_at(x);
    const VW density = hn::Mul(at.bell, wide_constant(0.3989422804014327));
    return hn::MulAdd(x, density, at.cumulative);
}

/// sigmoid(v) and sigmoid(-v).
struct LogisticAt {
    VW of_v, of_minus_v;
};
HWY_INLINE LogisticAt logistic_at(VW v) {
    const VW one = wide_constant(1), e = decay(hn::Abs(v));
    const VW large = hn::Div(one, hn::Add(one, e)), small = hn::Mul(e, large);
    const auto negative = hn::Lt(v, hn::Zero(DW()));
    return {hn::IfThenElse(negative, small, large), hn::IfThenElse(negative, large, small)};
}

/// sqrt(8 / pi): gelu_tanh(x) = x sigmoid(v), v = gelu_tanh_slope (x + 0.044715 x^3).
constexpr double gelu_tanh_slope = 1.5957691216057308;
constexpr double gelu_tanh_cubic = 0.044715;

HWY_INLINE VW gelu_tanh_argument(VW x) {
    const VW slope = wide_constant(gelu_tanh_slope);
    return hn::Mul(
        x, hn::MulAdd(hn::Mul(x, x), wide_constant(gelu_tanh_slope * gelu_tanh_cubic), slope));
}
HWY_INLINE VW wide_gelu_tanh(VW x) { return hn::Mul(x, logistic_at(gelu_tanh_argument(x)).of_v); }
HWY_INLINE VW wide_gelu_tanh_grad(VW x) {
    const LogisticAt at = logistic_at(gelu_tanh_argument(x));
    const VW slope = hn::MulAdd(hn::Mul(x, x), wide_constant(3 * gelu_tanh_slope * gelu_tanh_cubic),
                                wide_constant(gelu_tanh_slope));
    const VW bend = hn::Mul(hn::Mul(x, at.of_minus_v), slope);
    return hn::MulAdd(at.of_v, bend, at.of_v);
}

HWY_INLINE VF gelu_of(VF x) {
    return through_double(x, [](VW v) HWY_ATTR { return wide_gelu(v); });
}
HWY_INLINE VF gelu_tanh_of(VF x) {
    return through_double(x, [](VW v) HWY_ATTR { return wide_gelu_tanh(v); });
}
HWY_INLINE VF gelu_backward_of(VF dy, VF x) {
    return through_double(dy, x, [](VW g, VW v) HWY_ATTR { return hn::Mul(g, wide_gelu_grad(v)); });
}
HWY_INLINE VF gelu_tanh_backward_of(VF dy, VF x) {
    return through_double(dy, x,
                          [](VW g, VW v) HWY_ATTR { return hn::Mul(g, wide_gelu_tanh_grad(v)); });
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
