#include "ops/pointwise/trigonometric.h"

#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using kernels::UnaryOp;

/// 1 - w^2 without cancellation: the product (1 - w)(1 + w) near the ends, where the difference
/// would cancel, and the difference near 0, where the derivative of the product would.
Tensor room(const Tensor& w) {
    const Tensor difference = add(neg(mul(w, w)), 1.0),
                 product = mul(add(neg(w), 1.0), add(w, 1.0));
    return where(less(abs(w), scalar_like(w, 0.5)), difference, product);
}
Tensor square_plus_one(const Tensor& w) { return add(mul(w, w), 1.0); }

}  // namespace

Tensor sin(const Tensor& x) {
    return unary(sin_op, x, UnaryOp::sin, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return mul(dy, cos(saved[0])); });
}
Tensor cos(const Tensor& x) {
    return unary(cos_op, x, UnaryOp::cos, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return neg(mul(dy, sin(saved[0]))); });
}
Tensor acos(const Tensor& x) {
    return pointwise(acos_op, x, UnaryOp::acos,
                     [](const Tensor& w) { return neg(rsqrt(room(w))); });
}
Tensor asin(const Tensor& x) {
    return pointwise(asin_op, x, UnaryOp::asin, [](const Tensor& w) { return rsqrt(room(w)); });
}
Tensor atan(const Tensor& x) {
    return pointwise(atan_op, x, UnaryOp::atan,
                     [](const Tensor& w) { return reciprocal(square_plus_one(w)); });
}
Tensor tan(const Tensor& x) {
    return pointwise(tan_op, x, UnaryOp::tan,
                     [](const Tensor& w) { return square_plus_one(tan(w)); });
}
Tensor cosh(const Tensor& x) {
    return pointwise(cosh_op, x, UnaryOp::cosh, [](const Tensor& w) { return sinh(w); });
}
Tensor sinh(const Tensor& x) {
    return pointwise(sinh_op, x, UnaryOp::sinh, [](const Tensor& w) { return cosh(w); });
}
Tensor acosh(const Tensor& x) {
    return pointwise(acosh_op, x, UnaryOp::acosh,
                     [](const Tensor& w) { return rsqrt(mul(add(w, -1.0), add(w, 1.0))); });
}
Tensor asinh(const Tensor& x) {
    return pointwise(asinh_op, x, UnaryOp::asinh,
                     [](const Tensor& w) { return rsqrt(square_plus_one(w)); });
}
Tensor atanh(const Tensor& x) {
    return pointwise(atanh_op, x, UnaryOp::atanh,
                     [](const Tensor& w) { return reciprocal(room(w)); });
}

}  // namespace engine
