#include "ops/pointwise/rounding.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using kernels::BinaryOp;
using kernels::UnaryOp;

template <typename Bits>
bool has_zero(const Tensor& integers) {
    const std::span all(integers.data_as<Bits>(), static_cast<std::size_t>(integers.numel()));
    return std::ranges::find(all, Bits{0}) != all.end();
}

/// There is no quotient of integers by 0. On a GPU looking would wait for it: the result is 0
/// there. `b` is contiguous, so that its values are read where they lie.
void check_divisor(const Op& info, const Tensor& b) {
    if (b.device().kind != Device::Kind::cpu) return;
    if (size_of(b.dtype()) == 8 ? has_zero<std::uint64_t>(b) : has_zero<std::uint32_t>(b))
        throw Error(ErrorCode::value, std::string(info.name) + ": an integer is divided by 0");
}

/// op(a, b) in the wide form of their common type, rounded to that type, outside the tape.
Tensor computed(const Op& info, const Tensor& a, const Tensor& b, BinaryOp op) {
    const DType type = result_type(a, b);
    const DType wide = type == DType::u8 ? DType::i32 : wide_type(type);
    if (type == DType::boolean)
        throw Error(ErrorCode::dtype, std::string(info.name) + ": not defined for " + name(type));
    const Shape shape = broadcast_shapes(info.name, a.shape(), b.shape());
    const GradMode off(false);
    const auto operand = [&](const Tensor& x) {
        return in_layout(expanded_view(to(x.detach(), wide), shape), Layout::contiguous);
    };
    const Tensor divisor = operand(b);
    if (!is_floating(type)) check_divisor(info, divisor);
    const Tensor y = Tensor::empty(shape, wide, a.device());
    on(a.device(), kernels::cpu::binary, kernels::cuda::binary)(
        y.array(), operand(a).array(), divisor.array(), op, current_stream());
    return to(y, type);
}

/// The whole number n of times that b fits into a, by truncation (fmod) or floor (remainder).
/// Computed from the remainder, since a / b may round up to a whole number that it does not reach.
/// If the remainder is not finite, computed as in PyTorch.
Tensor quotient(const Tensor& a, const Tensor& b, BinaryOp op) {
    const Tensor rest = computed(fmod_op, a, b, BinaryOp::fmod), zero = constant(b, 0);
    const Tensor n = round(div(sub(a, rest), b));
    if (op == BinaryOp::fmod) return where(isfinite(n), n, trunc(div(a, b)));
    const Tensor crossed =
        logical_and(not_equal(rest, zero), logical_xor(less(rest, zero), less(b, zero)));
    return where(equal(b, zero), div(a, b), where(crossed, add(n, -1.0), n));
}

/// a - b n: the slope is 1 in a and -n in b.
Tensor left_over(const Op& info, const Tensor& a, const Tensor& b, BinaryOp op) {
    const Tensor inputs[] = {a, b};
    return record_many(info, inputs, computed(info, a, b, op), {save(a), save(b)},
                       [op](std::span<const Tensor> dy, const Saved& saved) {
                           const Tensor u = saved[0], v = saved[1], wide_dy = widened(dy[0]);
                           TensorList grads(2);
                           if (saved.needs_gradient(0))
                               grads[0] = to(sum_to(wide_dy, u.shape()), u.dtype());
                           if (saved.needs_gradient(1)) {
                               Tensor times;
                               {
                                   const GradMode off(false);
                                   const DType wide = wide_dy.dtype();
                                   times = quotient(to(u.detach(), wide), to(v.detach(), wide), op);
                               }
                               grads[1] =
                                   to(sum_to(neg(mul(wide_dy, times)), v.shape()), v.dtype());
                           }
                           return grads;
                       });
}

}  // namespace

Tensor floor(const Tensor& x) { return unary_flat(floor_op, x, UnaryOp::floor); }
Tensor ceil(const Tensor& x) { return unary_flat(ceil_op, x, UnaryOp::ceil); }
Tensor round(const Tensor& x) { return unary_flat(round_op, x, UnaryOp::round); }
Tensor trunc(const Tensor& x) { return unary_flat(trunc_op, x, UnaryOp::trunc); }
Tensor sign(const Tensor& x) { return unary_flat(sign_op, x, UnaryOp::sign); }

Tensor clamp(const Tensor& x0, std::optional<double> low, std::optional<double> high) {
    return clamp_op.call(x0, low, high, [&](const Tensor& x) {
        check_floating(clamp_op, x);
        if (!low && !high) throw Error(ErrorCode::value, "clamp: neither min nor max is given");
        Tensor y = x.detach();
        {
            const GradMode off(false);
            if (low) y = maximum(y, scalar_like(x, *low));
            if (high) y = minimum(y, scalar_like(x, *high));
        }
        // At a bound any slope from 0 to 1 is valid; PyTorch uses 0, as for relu.
        return record(clamp_op, {x}, y, {save(x)},
                      [low, high](const Tensor& dy, const Saved& saved) {
                          const Tensor zero = Tensor::scalar(0, dy.dtype(), dy.device());
                          Tensor dx = dy;
                          if (low)
                              dx = where(greater(saved[0], scalar_like(saved[0], *low)), dx, zero);
                          if (high)
                              dx = where(less(saved[0], scalar_like(saved[0], *high)), dx, zero);
                          return dx;
                      });
    });
}

Tensor fmod(const Tensor& a0, const Tensor& b0) {
    return fmod_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        return left_over(fmod_op, a, b, BinaryOp::fmod);
    });
}
Tensor remainder(const Tensor& a0, const Tensor& b0) {
    return remainder_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        return left_over(remainder_op, a, b, BinaryOp::remainder);
    });
}

}  // namespace engine
