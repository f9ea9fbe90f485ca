#include "ops/pointwise/unary.h"

#include "ops/pointwise/binary.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/rounding.h"

namespace engine {
namespace {

using kernels::UnaryOp;

constexpr double two_by_root_pi = 1.12837916709551257390;

Tensor power_of_two(const Tensor& w) { return pow(constant(w, 2), w); }

}  // namespace

Tensor neg(const Tensor& x) {
    return unary(neg_op, x, UnaryOp::neg, Kept::nothing,
                 [](const Tensor& dy, const Saved&) { return neg(dy); });
}
Tensor abs(const Tensor& x) {
    return unary(abs_op, x, UnaryOp::abs, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return mul(dy, sign(saved[0])); });
}
Tensor exp(const Tensor& x) {
    return unary(exp_op, x, UnaryOp::exp, Kept::y,
                 [](const Tensor& dy, const Saved& saved) { return mul(dy, saved[0]); });
}
Tensor log(const Tensor& x) {
    return unary(log_op, x, UnaryOp::log, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return div(dy, saved[0]); });
}
Tensor sqrt(const Tensor& x) {
    return unary(sqrt_op, x, UnaryOp::sqrt, Kept::y,
                 [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], 2.0)); });
}
Tensor rsqrt(const Tensor& x) {
    return unary(rsqrt_op, x, UnaryOp::rsqrt, Kept::y, [](const Tensor& dy, const Saved& saved) {
        const Tensor r = saved[0];
        return mul(mul(dy, mul(r, mul(r, r))), -0.5);
    });
}
Tensor reciprocal(const Tensor& x) {
    return unary(
        reciprocal_op, x, UnaryOp::reciprocal, Kept::y,
        [](const Tensor& dy, const Saved& saved) { return neg(mul(dy, mul(saved[0], saved[0]))); });
}
Tensor square(const Tensor& x) {
    return unary(square_op, x, UnaryOp::square, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return mul(mul(dy, saved[0]), 2.0); });
}
Tensor expm1(const Tensor& x) {
    return unary(expm1_op, x, UnaryOp::expm1, Kept::y,
                 [](const Tensor& dy, const Saved& saved) { return mul(dy, add(saved[0], 1.0)); });
}
Tensor log1p(const Tensor& x) {
    return unary(log1p_op, x, UnaryOp::log1p, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return div(dy, add(saved[0], 1.0)); });
}
Tensor log2(const Tensor& x) {
    constexpr double ln_2 = 0.69314718055994530942;
    return unary(log2_op, x, UnaryOp::log2, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], ln_2)); });
}
Tensor log10(const Tensor& x) {
    constexpr double ln_10 = 2.30258509299404568402;
    return unary(log10_op, x, UnaryOp::log10, Kept::x, [](const Tensor& dy, const Saved& saved) {
        return div(dy, mul(saved[0], ln_10));
    });
}
Tensor erf(const Tensor& x) {
    return unary(erf_op, x, UnaryOp::erf, Kept::x, [](const Tensor& dy, const Saved& saved) {
        const Tensor bell = exp(neg(mul(saved[0], saved[0])));
        return mul(dy, mul(bell, two_by_root_pi));
    });
}
Tensor erfc(const Tensor& x) {
    return pointwise(erfc_op, x, UnaryOp::erfc,
                     [](const Tensor& w) { return mul(exp(neg(mul(w, w))), -two_by_root_pi); });
}
Tensor erfinv(const Tensor& x) {
    return pointwise(erfinv_op, x, UnaryOp::erfinv, [](const Tensor& w) {
        constexpr double half_root_pi = 0.88622692545275801365;
        const Tensor y = erfinv(w);
        return mul(exp(mul(y, y)), half_root_pi);
    });
}
Tensor exp2(const Tensor& x) {
    return pointwise(exp2_op, x, power_of_two, [](const Tensor& w) {
        constexpr double ln_2 = 0.69314718055994530942;
        return mul(power_of_two(w), ln_2);
    });
}

}  // namespace engine
