#include "ops/loss/loss.h"

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
Tensor reduced(const Tensor& losses, Reduction reduction) {
    if (reduction == Reduction::none) return losses;
    if (reduction == Reduction::sum) return sum(losses, {}, false, losses.dtype());
    return mean(losses);
}

Tensor mse_loss(const Tensor& x0, const Tensor& target0, Reduction reduction) {
    return mse_loss_op.call(x0, target0, reduction, [&](const Tensor& x, const Tensor& target) {
        const NoAutocast inside(x.device().kind);
        const Tensor error = sub(x, target);
        return reduced(mul(error, error), reduction);
    });
}

Tensor l1_loss(const Tensor& x0, const Tensor& target0, Reduction reduction) {
    return l1_loss_op.call(x0, target0, reduction, [&](const Tensor& x, const Tensor& target) {
        const NoAutocast inside(x.device().kind);
        return reduced(abs(sub(x, target)), reduction);
    });
}

namespace {

/// near / 2 d^2 below the bend, far (d - bend / 2) above it. Where the square is not used, d is
/// replaced by 0: otherwise it could be infinite there, and its gradient NaN.
Tensor bent(const Tensor& d, const Tensor& below, double bend, double near, double far) {
    const Tensor inner = where(below, d, constant(d, 0));
    return where(below, mul(mul(inner, inner), 0.5 * near), mul(add(d, -0.5 * bend), far));
}

}  // namespace

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, Reduction reduction, double beta) {
    if (!(beta >= 0)) {
        throw Error(ErrorCode::value,
                    "smooth_l1_loss: beta must not be negative, got " + std::to_string(beta));
    }
    return wide_loss(smooth_l1_loss_op, reduction, x, target, reduction, beta,
                     [&](const Tensor& w, const Tensor& t) {
                         const Tensor d = abs(sub(w, t));
                         if (beta == 0) return d;
                         const Tensor below =
                             logical_not(greater_equal(d, scalar_like(d, beta)));  // NaN too
                         return bent(d, below, beta, 1 / beta, 1);
                     });
}

Tensor huber_loss(const Tensor& x, const Tensor& target, Reduction reduction, double delta) {
    if (!(delta > 0)) {
        throw Error(ErrorCode::value,
                    "huber_loss: delta must be above 0, got " + std::to_string(delta));
    }
    return wide_loss(huber_loss_op, reduction, x, target, reduction, delta,
                     [&](const Tensor& w, const Tensor& t) {
                         const Tensor d = abs(sub(w, t));
                         const Tensor below =
                             logical_not(greater(d, scalar_like(d, delta)));  // NaN too
                         return bent(d, below, delta, 1, delta);
                     });
}

namespace {

/// Whether the losses are computed by one kernel: on a GPU.
bool is_one_kernel(const Tensor& x, const Tensor& target) {
    const auto fits = [](const Tensor& t) { return t.dtype() == DType::f32 && t.is_contiguous(); };
    return x.device().kind == Device::Kind::cuda && target.device() == x.device() &&
           !target.requires_grad() && fits(x) && fits(target);
}

/// A gradient that is the same for all elements as its one element.
Tensor once_if_equal(const Tensor& dy) {
    for (int i = 0; i < dy.rank(); ++i)
        if (dy.strides()[i] != 0 && dy.size(i) != 1) return in_layout(dy, Layout::contiguous);
    return view_of(dy, {}, {}, dy.impl()->offset);
}

/// With the bits that the gradients of the single operations have.
Tensor logits_gradient(const Tensor& dy, const Tensor& x, const Tensor& target) {
    if (grad_enabled())
        return add(mul(dy, add(neg(target), 1.0)), mul(neg(dy), stable_sigmoid(neg(x))));
    const Tensor dx = empty_like(x), once = once_if_equal(dy);
    const DeviceScope scope(x.device());
    kernels::cuda::logits_loss_backward(dx.array(), once.array(), x.array(), target.array(),
                                        current_stream());
    return dx;
}

Tensor logits_losses(const Tensor& x, const Tensor& target) {
    const Tensor y = empty_like(x);
    const DeviceScope scope(x.device());
    kernels::cuda::logits_loss(y.array(), x.array(), target.array(), current_stream());
    return record(binary_cross_entropy_with_logits_op, {x}, y, {save(x), save(target)},
                  [](const Tensor& dy, const Saved& saved) {
                      return logits_gradient(dy, saved[0], saved[1]);
                  });
}

}  // namespace

Tensor binary_cross_entropy_with_logits(const Tensor& x0, const Tensor& target0,
                                        const Tensor& weight0, const Tensor& pos_weight0,
                                        Reduction reduction) {
    return binary_cross_entropy_with_logits_op.call(
        x0, target0, weight0, pos_weight0, reduction,
        [&](const Tensor& x, const Tensor& target, const Tensor& weight, const Tensor& pos_weight) {
            const NoAutocast inside(x.device().kind);
            check_shapes(binary_cross_entropy_with_logits_op, x.shape() == target.shape(), x,
                         target);
            if (!weight.defined() && !pos_weight.defined() && x.numel() > 0 &&
                is_one_kernel(x, target))
                return reduced(logits_losses(x, target), reduction);
            Tensor log_likelihood = log_sigmoid(x);
            if (pos_weight.defined())
                log_likelihood = mul(log_likelihood, add(mul(add(pos_weight, -1.0), target), 1.0));
            const Tensor losses = sub(mul(add(neg(target), 1.0), x), log_likelihood);
            return reduced(weight.defined() ? mul(losses, weight) : losses, reduction);
        });
}

namespace {

/// Checks that x is in [0, 1], where both logarithms are real.
void check_probabilities(const Tensor& x) {
    const ValueRule rule{
        "binary_cross_entropy: x must lie in [0, 1], not be ", "",
        "Use binary_cross_entropy_with_logits for values that are not probabilities.", false};
    check_values(rule, x, 0, 1);
}

/// max(log(x), -100)
Tensor bounded_log(const Tensor& x) {
    return maximum(log(x), Tensor::scalar(-100, x.dtype(), x.device()));
}

/// The loss by element. A gradient of its own: that of the logarithms would be 0 * inf at the ends.
Tensor binary_losses(const Tensor& x, const Tensor& target) {
    Tensor y;
    {
        const GradMode off(false);
        const Tensor other = add(neg(x), 1.0);
        y = neg(add(mul(target, bounded_log(x)), mul(add(neg(target), 1.0), bounded_log(other))));
    }
    const Tensor inputs[] = {x, target};
    return record_many(binary_cross_entropy_op, inputs, y, {save(x), save(target)},
                       [](std::span<const Tensor> grads, const Saved& saved) {
                           const Tensor p = saved[0], t = saved[1], other = add(neg(p), 1.0);
                           TensorList out(2);
                           if (saved.needs_gradient(0)) {
                               const Tensor floor = Tensor::scalar(1e-12, p.dtype(), p.device());
                               out[0] =
                                   mul(grads[0], div(sub(p, t), maximum(mul(p, other), floor)));
                           }
                           if (saved.needs_gradient(1))
                               out[1] = mul(grads[0], sub(log(other), log(p)));
                           return out;
                       });
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& x0, const Tensor& target0, const Tensor& weight0,
                            Reduction reduction) {
    return binary_cross_entropy_op.call(
        x0, target0, weight0, reduction,
        [&](const Tensor& x, const Tensor& target, const Tensor& weight) {
            one_type(binary_cross_entropy_op, {x, target, weight});
            check_shapes(binary_cross_entropy_op, x.shape() == target.shape(), x, target);
            check_probabilities(x);
            const Tensor losses = binary_losses(x, target);
            return reduced(weight.defined() ? mul(losses, weight) : losses, reduction);
        });
}

namespace {

constexpr Op replaced_op("replaced(x)",
                         "Other values with an unchanged gradient: nothing to cast.");

}  // namespace

DType loss_type(const Op& info, std::initializer_list<Tensor> tensors) {
    const DType type = result_type(tensors);
    if (!is_floating(type))
        throw Error(ErrorCode::dtype, std::string(info.name) + ": not defined for " + name(type));
    return type;
}

DType type_through_f32(Device::Kind kind, DType type) {
    return autocast_enabled(kind) && is_low(type) ? DType::f32 : type;
}

Tensor replaced(const Tensor& x, const Tensor& value) {
    return record(replaced_op, {x}, value, {}, [](const Tensor& dy, const Saved&) { return dy; });
}

}  // namespace engine
