#include "ops/pointwise/binary.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/reflected.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using kernels::BinaryOp;

/// add and sub with PyTorch's alpha: a + alpha * b, or a - alpha * b.
TensorList run_sum(const OpArguments& args, int sign, Tensor (*op)(const Tensor&, const Tensor&)) {
    const double alpha = args.number("alpha", 1);
    const Tensor& a = args.at(0);
    if (args.has("other")) {
        const Tensor other = number_like(a, args, "other");
        if (alpha == 1) return {op(a, other)};
        if (!is_floating(other.dtype()))
            return {op(a, mul(other, whole_number_like(add_op, other, alpha)))};
        return {op(a, scalar_like(a, alpha * args.number("other", 0)))};
    }
    return {alpha == 1 ? op(a, args.at(1)) : add_scaled(a, args.at(1), sign * alpha)};
}

/// x ready for a flat kernel: one element, or dense in y's layout.
Tensor flat_operand(const Tensor& x, const Tensor& y) {
    if (x.numel() == 1) return x;
    const Layout layout = layout_of(y);
    return in_layout(x.shape() == y.shape() ? x : expanded_view(x, y.shape()), layout);
}

Layout result_layout(const Tensor& a, const Tensor& b, const Shape& shape) {
    if (a.shape() == shape) return layout_of(a);
    return b.shape() == shape ? layout_of(b) : Layout::contiguous;
}

void run_flat(const Tensor& y, const Tensor& a, const Tensor& b, BinaryOp op) {
    on(y.device(), kernels::cpu::binary, kernels::cuda::binary)(
        y.array(), flat_operand(a, y).array(), flat_operand(b, y).array(), op, current_stream());
}

/// A 0-d f32 factor keeps its 24 bits: 65536 times an f16 tensor must not become inf times it.
bool is_wide_scalar(const Tensor& x, DType result) {
    return x.numel() == 1 && is_low(result) && x.dtype() != result;
}

/// y = op(a, b) in the type `dtype`, outside the tape.
Tensor compute(const Tensor& a, const Tensor& b, BinaryOp op, DType dtype, const Shape& shape) {
    Tensor y = Tensor::empty(shape, dtype, a.device(), result_layout(a, b, shape));
    if (op == BinaryOp::mul && is_wide_scalar(b, dtype) && b.dtype() == DType::f32 &&
        a.dtype() == dtype) {
        on(a.device(), kernels::cpu::scale_by, kernels::cuda::scale_by)(
            y.array(), flat_operand(a, y).array(), b.data_as<float>(), current_stream());
        return y;
    }
    if (is_wide_scalar(a, dtype) || is_wide_scalar(b, dtype)) {
        const Tensor wide = empty_like(y, DType::f32);
        run_flat(wide, to(a, DType::f32), to(b, DType::f32), op);
        return to(wide, dtype);
    }
    if (dtype == DType::u8) {
        // The kernels have no form for it: what wraps around in i32 does so in its lowest byte.
        const Tensor wide = empty_like(y, DType::i32);
        run_flat(wide, to(to(a, dtype), DType::i32), to(to(b, dtype), DType::i32), op);
        return to(wide, dtype);
    }
    run_flat(y, to(a, dtype), to(b, dtype), op);
    return y;
}

DType checked_type(const Op& info, const Tensor& a, const Tensor& b, bool needs_float) {
    const DType dtype = result_type(a, b);
    if (needs_float && !is_floating(dtype)) return DType::f32;
    if (dtype == DType::boolean) {
        throw Error(ErrorCode::dtype, std::string(info.name) + ": not defined for " + name(dtype));
    }
    return dtype;
}

/// The operands and the result.
struct Computed {
    Tensor a, b, y;
};

Computed computed(const Op& info, const Tensor& a, const Tensor& b, BinaryOp op,
                  bool needs_float) {
    const DType dtype = checked_type(info, a, b, needs_float);
    const Shape shape =
        a.shape() == b.shape() ? a.shape() : broadcast_shapes(info.name, a.shape(), b.shape());
    const GradMode off(false);
    return {a, b, compute(a, b, op, dtype, shape)};
}

/// Sums each gradient down to its operand's shape.
TensorList summed(TensorList grads, const Shape& a, const Shape& b) {
    if (grads[0].defined()) grads[0] = sum_to(grads[0], a);
    if (grads[1].defined()) grads[1] = sum_to(grads[1], b);
    return grads;
}

/// y = a + by * b: its gradient reads no operand, so none is kept.
Tensor record_sum(const Op& info, const Computed& c, double by) {
    const Tensor inputs[] = {c.a, c.b};
    return record_many(
        info, inputs, c.y, {},
        [sa = c.a.shape(), sb = c.b.shape(), by](std::span<const Tensor> dy, const Saved& saved) {
            TensorList grads(2);
            if (saved.needs_gradient(0)) grads[0] = dy[0];
            if (saved.needs_gradient(1))
                grads[1] = by == 1 ? dy[0] : by == -1 ? neg(dy[0]) : mul(dy[0], by);
            return summed(std::move(grads), sa, sb);
        });
}

using Gradient = TensorList (*)(const Tensor& dy, const Tensor& a, const Tensor& b,
                                const Saved& saved);

Tensor binary(const Op& op, const Tensor& a0, const Tensor& b0, BinaryOp f, bool needs_float,
              Gradient gradient) {
    return op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        const Tensor inputs[] = {a, b};
        return record_many(op, inputs, computed(op, a, b, f, needs_float).y, {save(a), save(b)},
                           [gradient](std::span<const Tensor> dy, const Saved& saved) {
                               const Tensor sa = saved[0], sb = saved[1];
                               return summed(gradient(dy[0], sa, sb, saved), sa.shape(),
                                             sb.shape());
                           });
    });
}

TensorList div_gradient(const Tensor& dy, const Tensor& a, const Tensor& b, const Saved& saved) {
    return {saved.needs_gradient(0) ? div(dy, b) : Tensor(),
            saved.needs_gradient(1) ? neg(mul(dy, div(div(a, b), b))) : Tensor()};
}

/// The gradient is halved if both are equal, and 0 for the operand that lost; with a NaN neither
/// lost.
TensorList extremum_gradient(const Tensor& dy, const Tensor& first_lost, const Tensor& second_lost,
                             const Tensor& equal) {
    const Tensor half = mul(dy, 0.5), none = Tensor::scalar(0, dy.dtype(), dy.device());
    return {where(equal, half, where(first_lost, none, dy)),
            where(equal, half, where(second_lost, none, dy))};
}

TensorList maximum_gradient(const Tensor& dy, const Tensor& a, const Tensor& b, const Saved&) {
    return extremum_gradient(dy, less(a, b), greater(a, b), equal(a, b));
}

TensorList minimum_gradient(const Tensor& dy, const Tensor& a, const Tensor& b, const Saved&) {
    return extremum_gradient(dy, greater(a, b), less(a, b), equal(a, b));
}

/// x in the type of the gradient if that is wider. Terms of one operand alone, such as b - 1, must
/// not be rounded to a 16-bit type within an f32 gradient.
Tensor widened(const Tensor& x, const Tensor& dy) { return to(x, promote(x.dtype(), dy.dtype())); }

TensorList pow_gradient(const Tensor& dy, const Tensor& base, const Tensor& exponent,
                        const Saved& saved) {
    TensorList grads(2);
    const Tensor a = widened(base, dy), b = widened(exponent, dy);
    const Tensor zero = Tensor::scalar(0, dy.dtype(), dy.device());
    if (saved.needs_gradient(0)) {
        const Tensor slope = mul(dy, mul(b, pow(a, add(b, -1.0))));
        grads[0] = where(equal(b, zero), zero, slope);
    }
    if (saved.needs_gradient(1)) {
        // The slope of 0 ** b in b is 0 where b >= 0; log(0) would give NaN. For b < 0 the value
        // falls from infinity.
        const Tensor at_zero = equal(a, zero), flat = greater_equal(b, zero);
        const Tensor one = Tensor::scalar(1, a.dtype(), a.device());
        const Tensor slope = mul(dy, mul(pow(a, b), log(where(at_zero, where(flat, one, a), a))));
        grads[1] = where(at_zero, where(flat, zero, slope), slope);
    }
    return grads;
}

TensorList atan2_gradient(const Tensor& dy, const Tensor& side, const Tensor& base,
                          const Saved& saved) {
    // In f32 no square of a 16-bit number overflows or vanishes.
    const Tensor wide_dy = to(dy, promote(dy.dtype(), DType::f32));
    const Tensor y = widened(side, wide_dy), x = widened(base, wide_dy);
    const Tensor square = add(mul(x, x), mul(y, y));
    const Tensor zero = Tensor::scalar(0, square.dtype(), square.device());
    // There is no slope at the origin; PyTorch uses 0.
    const Tensor at_origin = equal(square, zero);
    const Tensor one = Tensor::scalar(1, square.dtype(), square.device());
    const Tensor scaled = where(at_origin, zero, div(wide_dy, where(at_origin, one, square)));
    return {saved.needs_gradient(0) ? mul(scaled, x) : Tensor(),
            saved.needs_gradient(1) ? neg(mul(scaled, y)) : Tensor()};
}

}  // namespace

TensorList run_add(const Op&, const OpArguments& args) { return run_sum(args, 1, add); }
TensorList run_sub(const Op&, const OpArguments& args) { return run_sum(args, -1, sub); }
TensorList run_div(const Op&, const OpArguments& args) {
    const Tensor& x = args.at(0);
    if (args.has("self")) return {div(args.number("self", 1), x)};
    return {div(x, args.has("other") ? number_like(x, args, "other") : args.at(1))};
}

Tensor add(const Tensor& a0, const Tensor& b0) {
    return add_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        return record_sum(add_op, computed(add_op, a, b, BinaryOp::add, false), 1);
    });
}
Tensor sub(const Tensor& a0, const Tensor& b0) {
    return sub_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        return record_sum(sub_op, computed(sub_op, a, b, BinaryOp::sub, false), -1);
    });
}
Tensor add_scaled(const Tensor& a0, const Tensor& b0, double alpha) {
    return add_op.call(a0, b0, alpha, [&](const Tensor& a, const Tensor& b) {
        const DType dtype = checked_type(add_op, a, b, false);
        if (!is_floating(dtype)) return add(a, mul(b, whole_number_like(add_op, b, alpha)));
        const Shape shape = broadcast_shapes("add", a.shape(), b.shape());
        const Tensor y = Tensor::empty(shape, dtype, a.device(), result_layout(a, b, shape));
        {
            const GradMode off(false);
            const auto operand = [&](const Tensor& x) {
                return in_layout(expanded_view(to(x, dtype), shape), layout_of(y));
            };
            const Tensor left = operand(a), right = operand(b);
            on(y.device(), kernels::cpu::axpby, kernels::cuda::axpby)(
                y.array(), left.array(), right.array(), 1, alpha, current_stream());
        }
        return record_sum(add_op, {a, b, y}, alpha);
    });
}
Tensor mul(const Tensor& a0, const Tensor& b0) {
    return mul_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        const Computed c = computed(mul_op, a, b, BinaryOp::mul, false);
        const Tensor inputs[] = {c.a, c.b};
        return record_many(
            mul_op, inputs, c.y,
            {c.b.requires_grad() ? save(c.a) : Save{}, c.a.requires_grad() ? save(c.b) : Save{}},
            [sa = c.a.shape(), sb = c.b.shape()](std::span<const Tensor> dy, const Saved& saved) {
                TensorList grads(2);
                if (saved.needs_gradient(0)) grads[0] = mul(dy[0], saved[1]);
                if (saved.needs_gradient(1)) grads[1] = mul(dy[0], saved[0]);
                return summed(std::move(grads), sa, sb);
            });
    });
}
Tensor div(const Tensor& a, const Tensor& b) {
    return binary(div_op, a, b, BinaryOp::div, true, div_gradient);
}
Tensor maximum(const Tensor& a, const Tensor& b) {
    return binary(maximum_op, a, b, BinaryOp::maximum, false, maximum_gradient);
}
Tensor minimum(const Tensor& a, const Tensor& b) {
    return binary(minimum_op, a, b, BinaryOp::minimum, false, minimum_gradient);
}
Tensor pow(const Tensor& a, const Tensor& b) {
    return binary(pow_op, a, b, BinaryOp::pow, false, pow_gradient);
}
Tensor atan2(const Tensor& y, const Tensor& x) {
    return binary(atan2_op, y, x, BinaryOp::atan2, true, atan2_gradient);
}

Tensor mul(const Tensor& a, double b) { return mul(a, scalar_like(a, b)); }
Tensor add(const Tensor& a, double b) { return add(a, scalar_like(a, b)); }
Tensor pow(const Tensor& a, double b) { return pow(a, scalar_like(a, b)); }

}  // namespace engine
