#include "ops/pointwise/unary.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/rounding.h"

namespace engine {
namespace {

using kernels::UnaryOp;

constexpr const char* leaves_f16 = "For small x its slope overflows fp16, so it runs in fp32.";
constexpr const char* steep = "Its slope grows without bound towards its pole, so it runs in fp32.";

Tensor power_of_two(const Tensor& w) { return pow(constant(w, 2), w); }

}  // namespace

const OpInfo neg_info{"neg", CastPolicy::none, "neg(x)", 2, no_entry, run_unary<neg>};
const OpInfo abs_info{"abs", CastPolicy::none, "abs(x)", 2, no_entry, run_unary<abs>};
const OpInfo exp_info{
    "exp", CastPolicy::f32, "exp(x)", 2, "exp overflows fp16 above 11.09.", run_unary<exp>};
const OpInfo log_info{
    "log",         CastPolicy::f32, "log(x)", 2, "Its slope 1/x overflows fp16 for small x.",
    run_unary<log>};
const OpInfo sqrt_info{"sqrt", CastPolicy::none, "sqrt(x)", 2, no_entry, run_unary<sqrt>};
const OpInfo rsqrt_info{"rsqrt", CastPolicy::f32, "rsqrt(x)", 2, leaves_f16, run_unary<rsqrt>};
const OpInfo reciprocal_info{"reciprocal", CastPolicy::f32,      "reciprocal(x)", 2,
                             leaves_f16,   run_unary<reciprocal>};
const OpInfo square_info{
    "square",         CastPolicy::f32, "square(x)", 2, "256 squared already overflows fp16.",
    run_unary<square>};
const OpInfo expm1_info{
    "expm1", CastPolicy::f32, "expm1(x)", 2, "exp overflows fp16 above 11.09.", run_unary<expm1>};
const OpInfo log1p_info{"log1p", CastPolicy::f32, "log1p(x)", 2, steep, run_unary<log1p>};
const OpInfo log2_info{"log2", CastPolicy::f32, "log2(x)", 2, steep, run_unary<log2>};
const OpInfo log10_info{"log10", CastPolicy::f32, "log10(x)", 2, steep, run_unary<log10>};
const OpInfo erf_info{"erf", CastPolicy::none, "erf(x)", 2, no_entry, run_unary<erf>};
const OpInfo erfc_info{"erfc", CastPolicy::none, "erfc(x)", 2, no_entry, run_unary<erfc>};
const OpInfo erfinv_info{
    "erfinv",
    CastPolicy::f32,
    "erfinv(x)",
    2,
    "It is infinite at -1 and 1, and its slope near them magnifies any rounding of x.",
    run_unary<erfinv>};
const OpInfo exp2_info{"exp2", CastPolicy::none, "exp2(x)", 2, no_entry, run_unary<exp2>};

Tensor neg(const Tensor& x) {
    if (intercepted(neg_info))
        return dispatched(
            neg_info, [](const auto&... a) { return neg(a...); }, x);
    return record(neg_info, {x}, unary_kernel(neg_info, x, UnaryOp::neg), {},
                  [](const Tensor& dy, const Saved&) { return neg(dy); });
}

Tensor abs(const Tensor& x) {
    if (intercepted(abs_info))
        return dispatched(
            abs_info, [](const auto&... a) { return abs(a...); }, x);
    return record(abs_info, {x}, unary_kernel(abs_info, x, UnaryOp::abs), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, sign(saved[0])); });
}

Tensor exp(const Tensor& x0) {
    if (intercepted(exp_info))
        return dispatched(
            exp_info, [](const auto&... a) { return exp(a...); }, x0);
    const auto [x] = autocast(exp_info, x0);
    const Tensor y = unary_kernel(exp_info, x, UnaryOp::exp);
    return record(exp_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, saved[0]); });
}

Tensor log(const Tensor& x0) {
    if (intercepted(log_info))
        return dispatched(
            log_info, [](const auto&... a) { return log(a...); }, x0);
    const auto [x] = autocast(log_info, x0);
    return record(log_info, {x}, unary_kernel(log_info, x, UnaryOp::log), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return div(dy, saved[0]); });
}

Tensor sqrt(const Tensor& x) {
    if (intercepted(sqrt_info))
        return dispatched(
            sqrt_info, [](const auto&... a) { return sqrt(a...); }, x);
    const Tensor y = unary_kernel(sqrt_info, x, UnaryOp::sqrt);
    return record(sqrt_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], 2.0)); });
}

Tensor rsqrt(const Tensor& x0) {
    if (intercepted(rsqrt_info))
        return dispatched(
            rsqrt_info, [](const auto&... a) { return rsqrt(a...); }, x0);
    const auto [x] = autocast(rsqrt_info, x0);
    const Tensor y = unary_kernel(rsqrt_info, x, UnaryOp::rsqrt);
    return record(rsqrt_info, {x}, y, {save_output(y)}, [](const Tensor& dy, const Saved& saved) {
        const Tensor r = saved[0];
        return mul(mul(dy, mul(r, mul(r, r))), -0.5);
    });
}

Tensor reciprocal(const Tensor& x0) {
    if (intercepted(reciprocal_info))
        return dispatched(
            reciprocal_info, [](const auto&... a) { return reciprocal(a...); }, x0);
    const auto [x] = autocast(reciprocal_info, x0);
    const Tensor y = unary_kernel(reciprocal_info, x, UnaryOp::reciprocal);
    return record(
        reciprocal_info, {x}, y, {save_output(y)},
        [](const Tensor& dy, const Saved& saved) { return neg(mul(dy, mul(saved[0], saved[0]))); });
}

Tensor square(const Tensor& x0) {
    if (intercepted(square_info))
        return dispatched(
            square_info, [](const auto&... a) { return square(a...); }, x0);
    const auto [x] = autocast(square_info, x0);
    return record(square_info, {x}, unary_kernel(square_info, x, UnaryOp::square), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return mul(mul(dy, saved[0]), 2.0); });
}

Tensor expm1(const Tensor& x0) {
    if (intercepted(expm1_info))
        return dispatched(
            expm1_info, [](const auto&... a) { return expm1(a...); }, x0);
    const auto [x] = autocast(expm1_info, x0);
    const Tensor y = unary_kernel(expm1_info, x, UnaryOp::expm1);
    return record(expm1_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, add(saved[0], 1.0)); });
}

Tensor log1p(const Tensor& x0) {
    if (intercepted(log1p_info))
        return dispatched(
            log1p_info, [](const auto&... a) { return log1p(a...); }, x0);
    const auto [x] = autocast(log1p_info, x0);
    return record(log1p_info, {x}, unary_kernel(log1p_info, x, UnaryOp::log1p), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return div(dy, add(saved[0], 1.0)); });
}

Tensor log2(const Tensor& x0) {
    if (intercepted(log2_info))
        return dispatched(
            log2_info, [](const auto&... a) { return log2(a...); }, x0);
    const auto [x] = autocast(log2_info, x0);
    constexpr double ln_2 = 0.69314718055994530942;
    return record(
        log2_info, {x}, unary_kernel(log2_info, x, UnaryOp::log2), {save(x)},
        [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], ln_2)); });
}

Tensor log10(const Tensor& x0) {
    if (intercepted(log10_info))
        return dispatched(
            log10_info, [](const auto&... a) { return log10(a...); }, x0);
    const auto [x] = autocast(log10_info, x0);
    constexpr double ln_10 = 2.30258509299404568402;
    return record(
        log10_info, {x}, unary_kernel(log10_info, x, UnaryOp::log10), {save(x)},
        [](const Tensor& dy, const Saved& saved) { return div(dy, mul(saved[0], ln_10)); });
}

Tensor erf(const Tensor& x) {
    if (intercepted(erf_info))
        return dispatched(
            erf_info, [](const auto&... a) { return erf(a...); }, x);
    constexpr double two_by_root_pi = 1.12837916709551257390;
    return record(erf_info, {x}, unary_kernel(erf_info, x, UnaryOp::erf), {save(x)},
                  [](const Tensor& dy, const Saved& saved) {
                      const Tensor bell = exp(neg(mul(saved[0], saved[0])));
                      return mul(dy, mul(bell, two_by_root_pi));
                  });
}

Tensor erfc(const Tensor& x) {
    if (intercepted(erfc_info))
        return dispatched(
            erfc_info, [](const auto&... a) { return erfc(a...); }, x);
    return pointwise(erfc_info, x, UnaryOp::erfc, [](const Tensor& w) {
        constexpr double two_by_root_pi = 1.12837916709551257390;
        return mul(exp(neg(mul(w, w))), -two_by_root_pi);
    });
}

Tensor erfinv(const Tensor& x) {
    if (intercepted(erfinv_info))
        return dispatched(
            erfinv_info, [](const auto&... a) { return erfinv(a...); }, x);
    return pointwise(erfinv_info, x, UnaryOp::erfinv, [](const Tensor& w) {
        constexpr double half_root_pi = 0.88622692545275801365;
        const Tensor y = erfinv(w);
        return mul(exp(mul(y, y)), half_root_pi);
    });
}

Tensor exp2(const Tensor& x) {
    if (intercepted(exp2_info))
        return dispatched(
            exp2_info, [](const auto&... a) { return exp2(a...); }, x);
    return pointwise(exp2_info, x, power_of_two, [](const Tensor& w) {
        constexpr double ln_2 = 0.69314718055994530942;
        return mul(power_of_two(w), ln_2);
    });
}

}  // namespace engine
