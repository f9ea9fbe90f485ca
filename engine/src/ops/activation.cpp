#include "ops/activation.h"

#include "ops/binary.h"
#include "ops/compare.h"
#include "ops/loss.h"
#include "ops/pointwise.h"
#include "ops/steady.h"
#include "ops/unary.h"

namespace engine {
namespace {

constexpr const char* no_entry = "Not on the autocast list: runs in its input's type.";

TensorList run_softplus(const OpArguments& args) {
    return {softplus(args.at(0), args.number("beta", 1), args.number("threshold", 20))};
}

/// log(1 + exp(w)), finite wherever w is.
Tensor soft_plus(const Tensor& w) { return neg(log_sigmoid(neg(w))); }

/// 1 + tanh(u) is 2 sigmoid(2 u), which does not cancel for negative u: this is 2 u.
Tensor twice_gelu_argument(const Tensor& w) {
    constexpr double root = 0.79788456080286535588;  // sqrt(2 / pi)
    return mul(mul(w, add(mul(mul(w, w), 0.044715), 1.0)), 2 * root);
}
Tensor twice_gelu_slope(const Tensor& w) {
    constexpr double root = 0.79788456080286535588;
    return mul(add(mul(mul(w, w), 3 * 0.044715), 1.0), 2 * root);
}

}  // namespace

const OpInfo silu_info{"silu", CastPolicy::none, "silu(x)", 2, no_entry, run_unary<silu>};
const OpInfo mish_info{"mish", CastPolicy::none, "mish(x)", 2, no_entry, run_unary<mish>};
const OpInfo softplus_info{"softplus",
                           CastPolicy::f32,
                           "softplus(x; beta, threshold)",
                           2,
                           "The exp inside leaves fp16 above 11.09.",
                           run_softplus};
const OpInfo softsign_info{"softsign", CastPolicy::none, "softsign(x)",
                           2,          no_entry,         run_unary<softsign>};
const OpInfo tanhshrink_info{"tanhshrink", CastPolicy::none,     "tanhshrink(x)", 2,
                             no_entry,     run_unary<tanhshrink>};

Tensor silu(const Tensor& x) {
    return pointwise(
        silu_info, x, [](const Tensor& w) { return mul(w, sigmoid(w)); },
        [](const Tensor& w) {
            return mul(steady_sigmoid(w), add(mul(w, steady_sigmoid(neg(w))), 1.0));
        });
}

Tensor mish(const Tensor& x) {
    return pointwise(
        mish_info, x, [](const Tensor& w) { return mul(w, tanh(soft_plus(w))); },
        [](const Tensor& w) {
            const Tensor u = soft_plus(w);
            return add(steady_tanh(u), mul(mul(w, steady_sigmoid(w)), tanh_slope(u)));
        });
}

Tensor softplus(const Tensor& x, double beta, double threshold) {
    const auto straight = [beta, threshold](const Tensor& w) {
        return greater(mul(w, beta), number_beside(w, threshold));
    };
    return pointwise(
        softplus_info, x,
        [=](const Tensor& w) {
            return where(straight(w), w, mul(soft_plus(mul(w, beta)), 1 / beta));
        },
        [=](const Tensor& w) {
            return where(straight(w), constant(w, 1), steady_sigmoid(mul(w, beta)));
        });
}

Tensor softsign(const Tensor& x) {
    return pointwise(
        softsign_info, x, [](const Tensor& w) { return div(w, add(abs(w), 1.0)); },
        [](const Tensor& w) {
            const Tensor d = add(abs(w), 1.0);
            // d - d: NaN where x is infinite, as softsign is there.
            return add(reciprocal(mul(d, d)), sub(d.detach(), d.detach()));
        });
}

Tensor tanhshrink(const Tensor& x) {
    return pointwise(tanhshrink_info, x, kernels::UnaryOp::tanhshrink, [](const Tensor& w) {
        const Tensor t = steady_tanh(w);
        return mul(t, t);
    });
}

Tensor gelu_tanh(const Tensor& x) {
    return pointwise(
        gelu_info, x, [](const Tensor& w) { return mul(w, sigmoid(twice_gelu_argument(w))); },
        [](const Tensor& w) {
            const Tensor u = twice_gelu_argument(w), s = steady_sigmoid(u);
            const Tensor bend = mul(mul(w, steady_sigmoid(neg(u))), twice_gelu_slope(w));
            return mul(s, add(bend, 1.0));
        });
}

}  // namespace engine
