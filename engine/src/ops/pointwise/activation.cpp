#include "ops/pointwise/activation.h"

#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using kernels::BinaryOp;
using kernels::UnaryOp;

constexpr Op relu_backward_op("relu_backward(dy, y)");

/// dy * (1 - y^2)
constexpr KernelGradient tanh_backward{Op("tanh_backward(dy, y)"), BinaryOp::tanh_backward,
                                       [](const Tensor& ddx, const Tensor& dy, const Tensor& y) {
                                           return mul(mul(ddx, mul(dy, y)), -2.0);
                                       }};

/// dy * y * (1 - y)
constexpr KernelGradient sigmoid_backward{Op("sigmoid_backward(dy, y)"), BinaryOp::sigmoid_backward,
                                          [](const Tensor& ddx, const Tensor& dy, const Tensor& y) {
                                              return mul(mul(ddx, dy), add(mul(y, -2.0), 1.0));
                                          }};

/// dy * (Phi(x) + x phi(x)); the second derivative is phi(x) (2 - x^2).
constexpr KernelGradient gelu_backward{
    Op("gelu_backward(dy, x)"), BinaryOp::gelu_backward,
    [](const Tensor& ddx, const Tensor& dy, const Tensor& x) {
        const Tensor at = widened(x), xx = mul(at, at);
        const Tensor density = mul(exp(mul(xx, -0.5)), 0.39894228040143267794);
        const Tensor seeds = mul(widened(ddx), widened(dy));
        return to(mul(seeds, mul(density, add(neg(xx), 2.0))), x.dtype());
    }};

constexpr double gelu_tanh_root = 1.59576912160573071176;  // sqrt(8 / pi)
constexpr double gelu_tanh_cubic = 0.044715;

/// The second derivative of gelu_tanh(w) = w s(v), v = root (w + cubic w^3), s the logistic
/// function: 2 s' v' + w (s'' v'^2 + s' v'').
Tensor gelu_tanh_bend(const Tensor& w) {
    const Tensor square = mul(w, w);
    const Tensor v = mul(mul(w, add(mul(square, gelu_tanh_cubic), 1.0)), gelu_tanh_root);
    const Tensor slope = mul(add(mul(square, 3 * gelu_tanh_cubic), 1.0), gelu_tanh_root);
    const Tensor s = sigmoid(v), rest = sigmoid(neg(v)), ds = mul(s, rest);
    const Tensor inner =
        add(mul(mul(slope, slope), sub(rest, s)), mul(w, 6 * gelu_tanh_cubic * gelu_tanh_root));
    return mul(ds, add(mul(slope, 2.0), mul(w, inner)));
}

/// dy * gelu_tanh'(x)
constexpr KernelGradient gelu_tanh_backward{
    Op("gelu_tanh_backward(dy, x)"), BinaryOp::gelu_tanh_backward,
    [](const Tensor& ddx, const Tensor& dy, const Tensor& x) {
        const Tensor seeds = mul(widened(ddx), widened(dy));
        return to(mul(seeds, gelu_tanh_bend(widened(x))), x.dtype());
    }};

/// log(1 + exp(w)), finite wherever w is.
Tensor soft_plus(const Tensor& w) { return neg(log_sigmoid(neg(w))); }

}  // namespace

TensorList run_gelu(const Op&, const OpArguments& args) {
    const std::string form = args.text("approximate", "none");
    if (form != "none" && form != "tanh")
        throw Error(ErrorCode::value, "gelu: approximate is none or tanh, not " + form);
    return {form == "tanh" ? gelu_tanh(args.at(0)) : gelu(args.at(0))};
}

Tensor tanh(const Tensor& x) {
    return unary(tanh_op, x, UnaryOp::tanh, Kept::y,
                 [](const Tensor& dy, const Saved& saved) { return tanh_backward(dy, saved[0]); });
}
Tensor sigmoid(const Tensor& x) {
    return unary(
        sigmoid_op, x, UnaryOp::sigmoid, Kept::y,
        [](const Tensor& dy, const Saved& saved) { return sigmoid_backward(dy, saved[0]); });
}
Tensor relu(const Tensor& x) {
    return unary(relu_op, x, UnaryOp::relu, Kept::y,
                 [](const Tensor& dy, const Saved& saved) { return relu_backward(dy, saved[0]); });
}
Tensor relu_backward(const Tensor& dy, const Tensor& y) {
    return record(
        relu_backward_op, {dy}, gradient_kernel(dy, y, BinaryOp::relu_backward),
        {save(y.requires_grad() ? y.detach() : y)},
        [](const Tensor& ddx, const Saved& saved) { return relu_backward(ddx, saved[0]); });
}
Tensor gelu(const Tensor& x) {
    return unary(gelu_op, x, UnaryOp::gelu, Kept::x,
                 [](const Tensor& dy, const Saved& saved) { return gelu_backward(dy, saved[0]); });
}
Tensor gelu_tanh(const Tensor& x0) {
    return gelu_op.call(x0, std::string("tanh"), [](const Tensor& x) {
        return record(
            gelu_op, {x}, unary_kernel(gelu_op, x, UnaryOp::gelu_tanh), {save(x)},
            [](const Tensor& dy, const Saved& saved) { return gelu_tanh_backward(dy, saved[0]); });
    });
}
Tensor log_sigmoid(const Tensor& x) {
    return pointwise(
        log_sigmoid_op, x,
        [](const Tensor& w) {
            const Tensor below = minimum(w, Tensor::scalar(0, w.dtype(), w.device()));
            return sub(below, log1p(exp(neg(abs(w)))));
        },
        [](const Tensor& w) { return stable_sigmoid(neg(w)); });
}
Tensor silu(const Tensor& x) {
    return pointwise(
        silu_op, x, [](const Tensor& w) { return mul(w, sigmoid(w)); },
        [](const Tensor& w) {
            return mul(stable_sigmoid(w), add(mul(w, stable_sigmoid(neg(w))), 1.0));
        });
}
Tensor mish(const Tensor& x) {
    return pointwise(
        mish_op, x, [](const Tensor& w) { return mul(w, tanh(soft_plus(w))); },
        [](const Tensor& w) {
            const Tensor u = soft_plus(w);
            return add(stable_tanh(u), mul(mul(w, stable_sigmoid(w)), tanh_slope(u)));
        });
}
Tensor softplus(const Tensor& x, double beta, double threshold) {
    const auto straight = [beta, threshold](const Tensor& w) {
        return greater(mul(w, beta), scalar_like(w, threshold));
    };
    return pointwise(
        softplus_op, x,
        [=](const Tensor& w) {
            return where(straight(w), w, mul(soft_plus(mul(w, beta)), 1 / beta));
        },
        [=](const Tensor& w) {
            return where(straight(w), constant(w, 1), stable_sigmoid(mul(w, beta)));
        },
        beta, threshold);
}
Tensor softsign(const Tensor& x) {
    return pointwise(
        softsign_op, x, [](const Tensor& w) { return div(w, add(abs(w), 1.0)); },
        [](const Tensor& w) {
            const Tensor d = add(abs(w), 1.0);
            // d - d: NaN where x is infinite, as softsign is there.
            return add(reciprocal(mul(d, d)), sub(d.detach(), d.detach()));
        });
}
Tensor tanhshrink(const Tensor& x) {
    return pointwise(tanhshrink_op, x, UnaryOp::tanhshrink, [](const Tensor& w) {
        const Tensor t = stable_tanh(w);
        return mul(t, t);
    });
}

}  // namespace engine
