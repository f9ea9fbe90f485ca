#include "ops/pointwise/trigonometric.h"

#include "amp/dispatch.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using kernels::UnaryOp;

constexpr const char* steep_ends =
    "Its slope grows without bound near -1 and 1 and magnifies fp16's rounding there.";
constexpr const char* grows_exponentially = "It grows like exp, which overflows fp16 above 11.09.";

/// 1 - w^2 without cancellation: the product (1 - w)(1 + w) near the ends, where the difference
/// would cancel, and the difference near 0, where the derivative of the product would.
Tensor room(const Tensor& w) {
    const Tensor difference = add(neg(mul(w, w)), 1.0),
                 product = mul(add(neg(w), 1.0), add(w, 1.0));
    return where(less(abs(w), scalar_like(w, 0.5)), difference, product);
}
Tensor square_plus_one(const Tensor& w) { return add(mul(w, w), 1.0); }

}  // namespace

const OpInfo sin_info{"sin", CastPolicy::none, "sin(x)", 2, no_entry, run_unary<sin>};
const OpInfo cos_info{"cos", CastPolicy::none, "cos(x)", 2, no_entry, run_unary<cos>};
const OpInfo acos_info{"acos", CastPolicy::f32, "acos(x)", 2, steep_ends, run_unary<acos>};
const OpInfo asin_info{"asin", CastPolicy::f32, "asin(x)", 2, steep_ends, run_unary<asin>};
const OpInfo atan_info{"atan", CastPolicy::none, "atan(x)", 2, no_entry, run_unary<atan>};
const OpInfo tan_info{
    "tan",         CastPolicy::f32, "tan(x)", 2, "It has poles, near which it overflows fp16.",
    run_unary<tan>};
const OpInfo cosh_info{"cosh", CastPolicy::f32, "cosh(x)", 2, grows_exponentially, run_unary<cosh>};
const OpInfo sinh_info{"sinh", CastPolicy::f32, "sinh(x)", 2, grows_exponentially, run_unary<sinh>};
const OpInfo acosh_info{"acosh", CastPolicy::none, "acosh(x)", 2, no_entry, run_unary<acosh>};
const OpInfo asinh_info{"asinh", CastPolicy::none, "asinh(x)", 2, no_entry, run_unary<asinh>};
const OpInfo atanh_info{"atanh", CastPolicy::none, "atanh(x)", 2, no_entry, run_unary<atanh>};

Tensor sin(const Tensor& x) {
    if (intercepted(sin_info))
        return dispatched(
            sin_info, [](const auto&... a) { return sin(a...); }, x);
    return record(sin_info, {x}, unary_kernel(sin_info, x, UnaryOp::sin), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return mul(dy, cos(saved[0])); });
}

Tensor cos(const Tensor& x) {
    if (intercepted(cos_info))
        return dispatched(
            cos_info, [](const auto&... a) { return cos(a...); }, x);
    return record(cos_info, {x}, unary_kernel(cos_info, x, UnaryOp::cos), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return neg(mul(dy, sin(saved[0]))); });
}

Tensor acos(const Tensor& x) {
    if (intercepted(acos_info))
        return dispatched(
            acos_info, [](const auto&... a) { return acos(a...); }, x);
    return pointwise(acos_info, x, UnaryOp::acos,
                     [](const Tensor& w) { return neg(rsqrt(room(w))); });
}

Tensor asin(const Tensor& x) {
    if (intercepted(asin_info))
        return dispatched(
            asin_info, [](const auto&... a) { return asin(a...); }, x);
    return pointwise(asin_info, x, UnaryOp::asin, [](const Tensor& w) { return rsqrt(room(w)); });
}

Tensor atan(const Tensor& x) {
    if (intercepted(atan_info))
        return dispatched(
            atan_info, [](const auto&... a) { return atan(a...); }, x);
    return pointwise(atan_info, x, UnaryOp::atan,
                     [](const Tensor& w) { return reciprocal(square_plus_one(w)); });
}

Tensor tan(const Tensor& x) {
    if (intercepted(tan_info))
        return dispatched(
            tan_info, [](const auto&... a) { return tan(a...); }, x);
    return pointwise(tan_info, x, UnaryOp::tan,
                     [](const Tensor& w) { return square_plus_one(tan(w)); });
}

Tensor cosh(const Tensor& x) {
    if (intercepted(cosh_info))
        return dispatched(
            cosh_info, [](const auto&... a) { return cosh(a...); }, x);
    return pointwise(cosh_info, x, UnaryOp::cosh, [](const Tensor& w) { return sinh(w); });
}

Tensor sinh(const Tensor& x) {
    if (intercepted(sinh_info))
        return dispatched(
            sinh_info, [](const auto&... a) { return sinh(a...); }, x);
    return pointwise(sinh_info, x, UnaryOp::sinh, [](const Tensor& w) { return cosh(w); });
}

Tensor acosh(const Tensor& x) {
    if (intercepted(acosh_info))
        return dispatched(
            acosh_info, [](const auto&... a) { return acosh(a...); }, x);
    return pointwise(acosh_info, x, UnaryOp::acosh,
                     [](const Tensor& w) { return rsqrt(mul(add(w, -1.0), add(w, 1.0))); });
}

Tensor asinh(const Tensor& x) {
    if (intercepted(asinh_info))
        return dispatched(
            asinh_info, [](const auto&... a) { return asinh(a...); }, x);
    return pointwise(asinh_info, x, UnaryOp::asinh,
                     [](const Tensor& w) { return rsqrt(square_plus_one(w)); });
}

Tensor atanh(const Tensor& x) {
    if (intercepted(atanh_info))
        return dispatched(
            atanh_info, [](const auto&... a) { return atanh(a...); }, x);
    return pointwise(atanh_info, x, UnaryOp::atanh,
                     [](const Tensor& w) { return reciprocal(room(w)); });
}

}  // namespace engine
