#include "ops/pointwise/activation.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
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

TensorList run_gelu(const OpArguments& args) {
    const std::string form = args.text("approximate", "none");
    if (form != "none" && form != "tanh")
        throw Error(ErrorCode::value, "gelu: approximate is none or tanh, not " + form);
    return {form == "tanh" ? gelu_tanh(args.at(0)) : gelu(args.at(0))};
}
TensorList run_softplus(const OpArguments& args) {
    return {softplus(args.at(0), args.number("beta", 1), args.number("threshold", 20))};
}

const OpInfo relu_backward_info{"relu_backward", CastPolicy::none, "relu_backward(dy, y)", 2,
                                no_entry};
const OpInfo tanh_backward_info{"tanh_backward", CastPolicy::none, "tanh_backward(dy, y)", 2,
                                no_entry};
const OpInfo sigmoid_backward_info{"sigmoid_backward", CastPolicy::none, "sigmoid_backward(dy, y)",
                                   2, no_entry};
const OpInfo gelu_backward_info{"gelu_backward", CastPolicy::none, "gelu_backward(dy, x)", 2,
                                no_entry};

/// dy * (1 - y^2)
Tensor tanh_backward(const Tensor& dy, const Tensor& y) {
    const Tensor inputs[] = {dy, y};
    return record_many(tanh_backward_info, inputs, gradient_kernel(dy, y, BinaryOp::tanh_backward),
                       {save(dy), save(y)}, [](std::span<const Tensor> ddx, const Saved& saved) {
                           TensorList grads(2);
                           if (saved.needs_gradient(0)) grads[0] = tanh_backward(ddx[0], saved[1]);
                           if (saved.needs_gradient(1))
                               grads[1] = mul(mul(ddx[0], mul(saved[0], saved[1])), -2.0);
                           return grads;
                       });
}

/// dy * y * (1 - y)
Tensor sigmoid_backward(const Tensor& dy, const Tensor& y) {
    const Tensor inputs[] = {dy, y};
    return record_many(sigmoid_backward_info, inputs,
                       gradient_kernel(dy, y, BinaryOp::sigmoid_backward), {save(dy), save(y)},
                       [](std::span<const Tensor> ddx, const Saved& saved) {
                           TensorList grads(2);
                           if (saved.needs_gradient(0))
                               grads[0] = sigmoid_backward(ddx[0], saved[1]);
                           if (saved.needs_gradient(1)) {
                               grads[1] = mul(mul(ddx[0], saved[0]), add(mul(saved[1], -2.0), 1.0));
                           }
                           return grads;
                       });
}

/// dy * (Phi(x) + x phi(x)); the second derivative is phi(x) (2 - x^2).
Tensor gelu_backward(const Tensor& dy, const Tensor& x) {
    const Tensor dx = gradient_kernel(dy, x, BinaryOp::gelu_backward);
    const Tensor inputs[] = {dy, x};
    return record_many(
        gelu_backward_info, inputs, dx, {save(dy), save(x)},
        [](std::span<const Tensor> ddx, const Saved& saved) {
            TensorList grads(2);
            if (saved.needs_gradient(0)) grads[0] = gelu_backward(ddx[0], saved[1]);
            if (saved.needs_gradient(1)) {
                const Tensor at = widened(saved[1]), xx = mul(at, at);
                const Tensor density = mul(exp(mul(xx, -0.5)), 0.39894228040143267794);
                const Tensor seeds = mul(widened(ddx[0]), widened(saved[0]));
                grads[1] = to(mul(seeds, mul(density, add(neg(xx), 2.0))), saved[1].dtype());
            }
            return grads;
        });
}

/// log(1 + exp(w)), finite wherever w is.
Tensor soft_plus(const Tensor& w) { return neg(log_sigmoid(neg(w))); }

const OpInfo gelu_tanh_backward_info{"gelu_tanh_backward", CastPolicy::none,
                                     "gelu_tanh_backward(dy, x)", 2, no_entry};

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
Tensor gelu_tanh_backward(const Tensor& dy, const Tensor& x) {
    const Tensor dx = gradient_kernel(dy, x, BinaryOp::gelu_tanh_backward);
    const Tensor inputs[] = {dy, x};
    return record_many(gelu_tanh_backward_info, inputs, dx, {save(dy), save(x)},
                       [](std::span<const Tensor> ddx, const Saved& saved) {
                           TensorList grads(2);
                           if (saved.needs_gradient(0))
                               grads[0] = gelu_tanh_backward(ddx[0], saved[1]);
                           if (saved.needs_gradient(1)) {
                               const Tensor seeds = mul(widened(ddx[0]), widened(saved[0]));
                               grads[1] = to(mul(seeds, gelu_tanh_bend(widened(saved[1]))),
                                             saved[1].dtype());
                           }
                           return grads;
                       });
}

}  // namespace

const OpInfo tanh_info{"tanh", CastPolicy::none, "tanh(x)", 2, no_entry, run_unary<tanh>};
const OpInfo sigmoid_info{"sigmoid", CastPolicy::none, "sigmoid(x)",
                          2,         no_entry,         run_unary<sigmoid>};
const OpInfo relu_info{"relu", CastPolicy::none, "relu(x)", 2, no_entry, run_unary<relu>};
const OpInfo gelu_info{"gelu", CastPolicy::none, "gelu(x; approximate)", 2, no_entry, run_gelu};
const OpInfo silu_info{"silu", CastPolicy::none, "silu(x)", 2, no_entry, run_unary<silu>};
const OpInfo mish_info{"mish", CastPolicy::none, "mish(x)", 2, no_entry, run_unary<mish>};
const OpInfo softplus_info{"softplus",
                           CastPolicy::f32,
                           "softplus(x; beta, threshold)",
                           2,
                           "The exp inside overflows fp16 above 11.09.",
                           run_softplus};
const OpInfo softsign_info{"softsign", CastPolicy::none, "softsign(x)",
                           2,          no_entry,         run_unary<softsign>};
const OpInfo tanhshrink_info{"tanhshrink", CastPolicy::none,     "tanhshrink(x)", 2,
                             no_entry,     run_unary<tanhshrink>};
const OpInfo log_sigmoid_info{"logsigmoid",
                              CastPolicy::none,
                              "logsigmoid(x)",
                              2,
                              "Not on the autocast list: runs in its input's type.",
                              run_unary<log_sigmoid>};

Tensor tanh(const Tensor& x) {
    if (intercepted(tanh_info))
        return dispatched(
            tanh_info, [](const auto&... a) { return tanh(a...); }, x);
    const Tensor y = unary_kernel(tanh_info, x, UnaryOp::tanh);
    return record(tanh_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return tanh_backward(dy, saved[0]); });
}

Tensor sigmoid(const Tensor& x) {
    if (intercepted(sigmoid_info))
        return dispatched(
            sigmoid_info, [](const auto&... a) { return sigmoid(a...); }, x);
    const Tensor y = unary_kernel(sigmoid_info, x, UnaryOp::sigmoid);
    return record(sigmoid_info, {x}, y, {save_output(y)}, [](const Tensor& dy, const Saved& saved) {
        return sigmoid_backward(dy, saved[0]);
    });
}

Tensor relu(const Tensor& x) {
    if (intercepted(relu_info))
        return dispatched(
            relu_info, [](const auto&... a) { return relu(a...); }, x);
    const Tensor y = unary_kernel(relu_info, x, UnaryOp::relu);
    return record(relu_info, {x}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) { return relu_backward(dy, saved[0]); });
}

Tensor relu_backward(const Tensor& dy, const Tensor& y) {
    return record(
        relu_backward_info, {dy}, gradient_kernel(dy, y, BinaryOp::relu_backward),
        {save(y.requires_grad() ? y.detach() : y)},
        [](const Tensor& ddx, const Saved& saved) { return relu_backward(ddx, saved[0]); });
}

Tensor gelu(const Tensor& x) {
    if (intercepted(gelu_info))
        return dispatched(
            gelu_info, [](const auto&... a) { return gelu(a...); }, x);
    return record(gelu_info, {x}, unary_kernel(gelu_info, x, UnaryOp::gelu), {save(x)},
                  [](const Tensor& dy, const Saved& saved) { return gelu_backward(dy, saved[0]); });
}

Tensor log_sigmoid(const Tensor& x) {
    if (intercepted(log_sigmoid_info))
        return dispatched(
            log_sigmoid_info, [](const auto&... a) { return log_sigmoid(a...); }, x);
    check_floating(log_sigmoid_info, x);
    Tensor y;
    {
        const GradMode off(false);
        const NoAutocast inside(x.device().kind);
        const Tensor wide = to(x, x.dtype() == DType::f64 ? DType::f64 : DType::f32);
        const Tensor below = minimum(wide, Tensor::scalar(0, wide.dtype(), x.device()));
        y = to(sub(below, log1p(exp(neg(abs(wide))))), x.dtype());
    }
    return record(log_sigmoid_info, {x}, y, {save(x)}, [](const Tensor& dy, const Saved& saved) {
        const Tensor at = saved[0];
        return to(mul(widened(dy), stable_sigmoid(neg(widened(at)))), at.dtype());
    });
}

Tensor silu(const Tensor& x) {
    if (intercepted(silu_info))
        return dispatched(
            silu_info, [](const auto&... a) { return silu(a...); }, x);
    return pointwise(
        silu_info, x, [](const Tensor& w) { return mul(w, sigmoid(w)); },
        [](const Tensor& w) {
            return mul(stable_sigmoid(w), add(mul(w, stable_sigmoid(neg(w))), 1.0));
        });
}

Tensor mish(const Tensor& x) {
    if (intercepted(mish_info))
        return dispatched(
            mish_info, [](const auto&... a) { return mish(a...); }, x);
    return pointwise(
        mish_info, x, [](const Tensor& w) { return mul(w, tanh(soft_plus(w))); },
        [](const Tensor& w) {
            const Tensor u = soft_plus(w);
            return add(stable_tanh(u), mul(mul(w, stable_sigmoid(w)), tanh_slope(u)));
        });
}

Tensor softplus(const Tensor& x, double beta, double threshold) {
    if (intercepted(softplus_info))
        return dispatched(
            softplus_info, [](const auto&... a) { return softplus(a...); }, x, beta, threshold);
    const auto straight = [beta, threshold](const Tensor& w) {
        return greater(mul(w, beta), scalar_like(w, threshold));
    };
    return pointwise(
        softplus_info, x,
        [=](const Tensor& w) {
            return where(straight(w), w, mul(soft_plus(mul(w, beta)), 1 / beta));
        },
        [=](const Tensor& w) {
            return where(straight(w), constant(w, 1), stable_sigmoid(mul(w, beta)));
        });
}

Tensor softsign(const Tensor& x) {
    if (intercepted(softsign_info))
        return dispatched(
            softsign_info, [](const auto&... a) { return softsign(a...); }, x);
    return pointwise(
        softsign_info, x, [](const Tensor& w) { return div(w, add(abs(w), 1.0)); },
        [](const Tensor& w) {
            const Tensor d = add(abs(w), 1.0);
            // d - d: NaN where x is infinite, as softsign is there.
            return add(reciprocal(mul(d, d)), sub(d.detach(), d.detach()));
        });
}

Tensor tanhshrink(const Tensor& x) {
    if (intercepted(tanhshrink_info))
        return dispatched(
            tanhshrink_info, [](const auto&... a) { return tanhshrink(a...); }, x);
    return pointwise(tanhshrink_info, x, UnaryOp::tanhshrink, [](const Tensor& w) {
        const Tensor t = stable_tanh(w);
        return mul(t, t);
    });
}

Tensor gelu_tanh(const Tensor& x) {
    if (intercepted(gelu_info))
        return dispatched(
            gelu_info, [](const auto&... a) { return gelu_tanh(a...); }, x);
    return record(
        gelu_info, {x}, unary_kernel(gelu_info, x, UnaryOp::gelu_tanh), {save(x)},
        [](const Tensor& dy, const Saved& saved) { return gelu_tanh_backward(dy, saved[0]); });
}

}  // namespace engine
