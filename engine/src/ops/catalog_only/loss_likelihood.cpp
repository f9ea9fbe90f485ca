#include "ops/catalog_only/loss_likelihood.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

/// t log(t), 0 at 0. There the gradient is NaN, as PyTorch's.
Tensor times_own_log(const Tensor& t) {
    const Tensor zero = constant(t, 0);
    return where(equal(t, zero), zero, mul(t, log(t)));
}

}  // namespace

Tensor kl_div(const Tensor& x0, const Tensor& target0, const KlDivOptions& options) {
    return kl_div_op.call(x0, target0, options, [&](const Tensor& x, const Tensor& target) {
        const NoAutocast inside(x.device().kind);
        const DType type = loss_type(kl_div_op, {x, target});
        const Tensor w = widened(x, type), t = widened(target, type);
        const Tensor losses =
            options.log_target ? mul(exp(t), sub(t, w)) : sub(times_own_log(t), mul(t, w));
        if (!options.batch_mean) return to(reduced(losses, options.reduction), type);
        const Tensor total = reduced(losses, Reduction::sum);
        const double batch = x.rank() == 0 ? 1 : static_cast<double>(x.size(0));
        return to(div(total, scalar_like(total, batch)), type);
    });
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonOptions& options) {
    return wide_loss(
        poisson_nll_loss_op, options.reduction, x, target, options,
        [&](const Tensor& w, const Tensor& t) {
            const Tensor losses = options.log_input ? sub(exp(w), mul(t, w))
                                                    : sub(w, mul(t, log(add(w, options.eps))));
            if (!options.full) return losses;
            constexpr double two_pi = 6.28318530717958647693;
            const Tensor stirling = add(sub(mul(t, log(t)), t), mul(log(mul(t, two_pi)), 0.5));
            const Tensor above_one = greater(t, scalar_like(t, 1));
            return add(losses, where(above_one, stirling, constant(stirling, 0)));
        });
}

Tensor multilabel_soft_margin_loss(const Tensor& x0, const Tensor& target0, const Tensor& weight0,
                                   Reduction reduction) {
    return multilabel_soft_margin_loss_op.call(
        x0, target0, weight0, reduction,
        [&](const Tensor& x, const Tensor& target, const Tensor& weight) {
            const Op& info = multilabel_soft_margin_loss_op;
            if (x.rank() == 0)
                throw Error(ErrorCode::shape, std::string(info.name) + ": x has no classes");
            const DType common = weight.defined() ? loss_type(info, {x, target, weight})
                                                  : loss_type(info, {x, target});
            const DType type = type_through_f32(x.device().kind, common);
            const NoAutocast inside(x.device().kind);
            const Tensor w = widened(x, type), t = widened(target, type);
            const Tensor likelihood =
                add(mul(t, log_sigmoid(w)), mul(add(neg(t), 1.0), log_sigmoid(neg(w))));
            const Tensor losses =
                neg(weight.defined() ? mul(likelihood, widened(weight, type)) : likelihood);
            return to(reduced(mean(losses, {-1}), reduction), type);
        });
}

}  // namespace engine
