#include "ops/pointwise/piecewise.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

Tensor is_positive(const Tensor& w) { return greater(w, scalar_like(w, 0)); }
/// Not above a bound that is meant to be a number of w's own type.
Tensor at_most(const Tensor& w, double bound) { return less_equal(w, scalar_like(w, bound)); }
Tensor at_least(const Tensor& w, double bound) { return greater_equal(w, scalar_like(w, bound)); }

/// x where x > 0, else alpha (exp(rate x) - 1), all times scale.
struct Exponential {
    double scale, alpha, rate;

    Tensor value(const Tensor& w) const {
        return mul(where(at_most(w, 0), mul(expm1(bent(w)), alpha), w), scale);
    }
    Tensor slope(const Tensor& w) const {
        return where(at_most(w, 0), mul(exp(bent(w)), scale * alpha * rate), constant(w, scale));
    }

private:
    /// rate x where it is used; elsewhere exp could be infinite, and its gradient NaN.
    Tensor bent(const Tensor& w) const {
        return mul(where(at_most(w, 0), w, constant(w, 0)), rate);
    }
};

template <typename... Attributes>
Tensor exponential(const Op& op, const Tensor& x, const Exponential& shape,
                   const Attributes&... attributes) {
    return pointwise(
        op, x, [shape](const Tensor& w) { return shape.value(w); },
        [shape](const Tensor& w) { return shape.slope(w); }, attributes...);
}

Tensor bounded(const Op& op, const Tensor& x, double low, double high) {
    return pointwise(
        op, x,
        [low, high](const Tensor& w) {
            const Tensor below = where(at_least(w, high), constant(w, high), w);
            return where(at_most(w, low), constant(w, low), below);
        },
        [low, high](const Tensor& w) {
            const Tensor below = where(at_least(w, high), constant(w, 0), constant(w, 1));
            return where(at_most(w, low), constant(w, 0), below);
        },
        low, high);
}

Tensor hard_sigmoid(const Tensor& w) {
    const Tensor rising = mul(add(w, 3.0), 1.0 / 6);
    return where(at_most(w, -3), constant(w, 0), where(at_least(w, 3), constant(w, 1), rising));
}

}  // namespace

Tensor elu(const Tensor& x, double alpha) { return exponential(elu_op, x, {1, alpha, 1}, alpha); }

Tensor selu(const Tensor& x) {
    return exponential(selu_op, x,
                       {1.0507009873554804934193349852946, 1.6732632423543772848170429916717, 1});
}

Tensor celu(const Tensor& x, double alpha) {
    if (alpha == 0) throw Error(ErrorCode::value, "celu: alpha must not be 0");
    return exponential(celu_op, x, {1, alpha, 1 / alpha}, alpha);
}

namespace {

constexpr Op leaky_relu_backward_op("leaky_relu_backward(dy, x; negative_slope)");

/// a where x > 0, else a * slope, on the CPU.
Tensor sloped(const Tensor& a, const Tensor& x, double slope) {
    const Tensor from = dense(a), by = in_layout(x, layout_of(from)), y = empty_like(from);
    kernels::cpu::leaky_relu(y.array(), from.array(), by.array(), slope, {});
    return y;
}

/// Linear in dy, flat in x.
Tensor leaky_relu_backward(const Tensor& dy, const Tensor& x, double slope) {
    return record(leaky_relu_backward_op, {dy}, sloped(dy, x, slope),
                  {save(x.requires_grad() ? x.detach() : x)},
                  [slope](const Tensor& ddx, const Saved& saved) {
                      return leaky_relu_backward(ddx, saved[0], slope);
                  });
}

}  // namespace

Tensor leaky_relu(const Tensor& x0, double negative_slope) {
    return leaky_relu_op.call(x0, negative_slope, [&](const Tensor& x) {
        check_floating(leaky_relu_op, x);
        if (x.device().kind != Device::Kind::cpu) return composed_leaky_relu(x, negative_slope);
        return record(leaky_relu_op, {x}, sloped(x, x, negative_slope), {save(x)},
                      [negative_slope](const Tensor& dy, const Saved& saved) {
                          return leaky_relu_backward(dy, saved[0], negative_slope);
                      });
    });
}

Tensor composed_leaky_relu(const Tensor& x, double negative_slope) {
    return pointwise_inside(
        leaky_relu_op, x,
        [=](const Tensor& w) { return where(is_positive(w), w, mul(w, negative_slope)); },
        [=](const Tensor& w) {
            return where(is_positive(w), constant(w, 1), constant(w, negative_slope));
        });
}

Tensor hardtanh(const Tensor& x, double min_val, double max_val) {
    if (min_val > max_val) {
        throw Error(ErrorCode::value, "hardtanh: min_val " + std::to_string(min_val) +
                                          " is above max_val " + std::to_string(max_val));
    }
    return bounded(hardtanh_op, x, min_val, max_val);
}

namespace {

constexpr Op relu6_backward_op("relu6_backward(dy, y)");

/// dy where 0 < y < 6, else 0; linear in dy, flat in y. A NaN lets dy through, as in PyTorch.
Tensor relu6_backward(const Tensor& dy, const Tensor& y) {
    const Tensor dx = gradient_kernel(to(dy, y.dtype()), y, kernels::BinaryOp::relu6_backward);
    return record(
        relu6_backward_op, {dy}, dx, {save(y.detach())},
        [](const Tensor& ddx, const Saved& saved) { return relu6_backward(ddx, saved[0]); });
}

}  // namespace

/// Every type represents 0 and 6 exactly, so nothing is rounded, and y shows where x was clipped. A
/// network that saves y for its next layer saves nothing more.
Tensor relu6(const Tensor& x) {
    return unary(relu6_op, x, kernels::UnaryOp::relu6, Kept::y,
                 [](const Tensor& dy, const Saved& saved) { return relu6_backward(dy, saved[0]); });
}

Tensor hardsigmoid(const Tensor& x) {
    return pointwise(hardsigmoid_op, x, hard_sigmoid, [](const Tensor& w) {
        const Tensor zero = constant(w, 0);
        const Tensor rising = where(less(w, scalar_like(w, 3)), constant(w, 1.0 / 6), zero);
        return where(greater(w, scalar_like(w, -3)), rising, zero);
    });
}

Tensor hardswish(const Tensor& x) {
    return pointwise(
        hardswish_op, x, [](const Tensor& w) { return mul(w, hard_sigmoid(w)); },
        [](const Tensor& w) {
            const Tensor bend = add(mul(w, 1.0 / 3), 0.5);
            const Tensor rest = where(less(w, scalar_like(w, 3)), bend, constant(w, 1));
            return where(at_most(w, -3), constant(w, 0), rest);
        });
}

Tensor threshold(const Tensor& x, double at, double value) {
    return pointwise(
        threshold_op, x,
        [=](const Tensor& w) { return where(at_most(w, at), constant(w, value), w); },
        [=](const Tensor& w) { return where(at_most(w, at), constant(w, 0), constant(w, 1)); }, at,
        value);
}

namespace {

/// weight in a shape that broadcasts over x's channels.
Tensor beside_channels(const Tensor& weight, const Tensor& x) {
    if (weight.numel() == 1) return reshape(weight, {});
    check_shapes(prelu_op, weight.rank() == 1 && x.rank() >= 2 && weight.size(0) == x.size(1), x,
                 weight);
    Shape shape{weight.size(0)};
    for (int i = 2; i < x.rank(); ++i) shape.push_back(1);
    return reshape(weight, shape);
}

}  // namespace

Tensor prelu(const Tensor& x0, const Tensor& weight0) {
    return prelu_op.call(x0, weight0, [&](const Tensor& x, const Tensor& weight) {
        const NoAutocast inside(x.device().kind);
        const DType type = one_type(prelu_op, {x, weight});
        const Tensor w = widened(x), positive = is_positive(w);
        // An infinity above 0 would give the weight's gradient 0 * inf.
        const Tensor below = where(positive, constant(w, 0), w);
        const Tensor factor = beside_channels(widened(weight), x);
        return to(where(positive, w, mul(below, factor)), type);
    });
}

}  // namespace engine
