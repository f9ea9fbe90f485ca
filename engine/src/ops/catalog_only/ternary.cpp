#include "ops/catalog_only/ternary.h"

#include <cmath>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

/// x + value * product(a, b), of the operands' common type.
Tensor added(const Op& info, const Tensor& x, const Tensor& a, const Tensor& b, double value,
             Tensor (*product)(const Tensor&, const Tensor&)) {
    const NoAutocast inside(x.device().kind);
    const DType type = result_type({x, a, b});
    if (!is_floating(type))
        throw Error(ErrorCode::dtype, std::string(info.name) + ": not defined for " + name(type));
    // value comes first, as in PyTorch: it may keep the product within the range, or not.
    const Tensor left = widened(a, type);
    const Tensor term = product(value == 1 ? left : mul(left, value), widened(b, type));
    return to(add(widened(x, type), term), type);
}

}  // namespace

TensorList run_lerp(const Op&, const OpArguments& args) {
    if (args.has("weight")) return {lerp(args.at(0), args.at(1), args.number("weight", 0))};
    return {lerp(args.at(0), args.at(1), args.at(2))};
}

Tensor addcmul(const Tensor& x0, const Tensor& a0, const Tensor& b0, double value) {
    return addcmul_op.call(x0, a0, b0, value,
                           [&](const Tensor& x, const Tensor& a, const Tensor& b) {
                               return added(addcmul_op, x, a, b, value, mul);
                           });
}

Tensor addcdiv(const Tensor& x0, const Tensor& a0, const Tensor& b0, double value) {
    return addcdiv_op.call(x0, a0, b0, value,
                           [&](const Tensor& x, const Tensor& a, const Tensor& b) {
                               return added(addcdiv_op, x, a, b, value, div);
                           });
}

namespace {

Tensor between(const Tensor& x, const Tensor& end, const Tensor& weight) {
    const Tensor way = sub(end, x);
    const Tensor near_start = add(x, mul(weight, way));
    const Tensor near_end = sub(end, mul(way, add(neg(weight), 1.0)));
    return where(less(abs(weight), scalar_like(weight, 0.5)), near_start, near_end);
}

/// x summed down to the shape of `like`, in its type.
Tensor gradient_of(const Tensor& like, const Tensor& x) {
    return to(sum_to(x, like.shape()), like.dtype());
}

}  // namespace

Tensor lerp(const Tensor& x0, const Tensor& end0, const Tensor& weight0) {
    return lerp_op.call(
        x0, end0, weight0, [&](const Tensor& x, const Tensor& end, const Tensor& weight) {
            const DType type = one_type(lerp_op, {x, end, weight});
            Tensor y;
            {
                const GradMode off(false);
                y = to(between(widened(x), widened(end), widened(weight)), type);
            }
            const Tensor inputs[] = {x, end, weight};
            // A gradient of its own: that of the branch not taken would be 0 * inf for an infinite
            // difference.
            return record_many(lerp_op, inputs, y, {save(x), save(end), save(weight)},
                               [](std::span<const Tensor> grads, const Saved& saved) {
                                   const Tensor from = saved[0], to_end = saved[1], by = saved[2];
                                   const Tensor dy = widened(grads[0]), w = widened(by);
                                   const Tensor way = sub(widened(to_end), widened(from));
                                   TensorList out(3);
                                   if (saved.needs_gradient(0))
                                       out[0] = gradient_of(from, mul(dy, add(neg(w), 1.0)));
                                   if (saved.needs_gradient(1))
                                       out[1] = gradient_of(to_end, mul(dy, w));
                                   if (saved.needs_gradient(2))
                                       out[2] = gradient_of(by, mul(dy, way));
                                   return out;
                               });
        });
}

Tensor lerp(const Tensor& x0, const Tensor& end0, double weight) {
    return lerp_op.call(x0, end0, weight, [&](const Tensor& x, const Tensor& end) {
        const DType type = one_type(lerp_op, {x, end});
        const NoAutocast inside(x.device().kind);
        const Tensor from = widened(x), to_end = widened(end), way = sub(to_end, from);
        if (std::fabs(weight) < 0.5) return to(add(from, mul(way, weight)), type);
        return to(sub(to_end, mul(way, 1 - weight)), type);
    });
}

}  // namespace engine
