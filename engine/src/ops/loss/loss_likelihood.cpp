#include "ops/loss/loss_likelihood.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

TensorList run_kl_div(const OpArguments& args) {
    KlDivOptions options{.log_target = args.flag("log_target", false)};
    options.batch_mean = args.text("reduction", "mean") == "batchmean";
    if (!options.batch_mean) options.reduction = read_reduction(args);
    return {kl_div(args.at(0), args.at(1), options)};
}
TensorList run_poisson(const OpArguments& args) {
    return {poisson_nll_loss(args.at(0), args.at(1),
                             {args.flag("log_input", true), args.flag("full", false),
                              args.number("eps", 1e-8), read_reduction(args)})};
}
TensorList run_multilabel_likelihood(const OpArguments& args) {
    return {multilabel_soft_margin_loss(args.at(0), args.at(1), args.get(2), read_reduction(args))};
}

/// t log(t), 0 at 0. There the gradient is NaN, as PyTorch's.
Tensor times_own_log(const Tensor& t) {
    const Tensor zero = constant(t, 0);
    return where(equal(t, zero), zero, mul(t, log(t)));
}

}  // namespace

const OpInfo kl_div_info{"kl_div",
                         CastPolicy::f32,
                         "kl_div(x, target; reduction, log_target)",
                         2,
                         "A loss condenses many numbers into one, so it is computed in fp32.",
                         run_kl_div};
const OpInfo poisson_nll_loss_info{"poisson_nll_loss",
                                   CastPolicy::f32,
                                   "poisson_nll_loss(x, target; log_input, full, eps, reduction)",
                                   2,
                                   "The exp inside overflows fp16 above 11.09.",
                                   run_poisson};
const OpInfo multilabel_soft_margin_loss_info{
    "multilabel_soft_margin_loss",
    CastPolicy::none,
    "multilabel_soft_margin_loss(x, target, weight?; reduction)",
    2,
    "Not on the list itself: the sum over the labels inside writes fp32, so the loss is fp32.",
    run_multilabel_likelihood};

Tensor kl_div(const Tensor& x0, const Tensor& target0, const KlDivOptions& options) {
    if (intercepted(kl_div_info))
        return dispatched(
            kl_div_info, [](const auto&... a) { return kl_div(a...); }, x0, target0, options);
    const auto [x, target] = autocast(kl_div_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(kl_div_info, {x, target});
    const Tensor w = widened(x, type), t = widened(target, type);
    const Tensor losses =
        options.log_target ? mul(exp(t), sub(t, w)) : sub(times_own_log(t), mul(t, w));
    if (!options.batch_mean) return to(reduced(losses, options.reduction), type);
    const Tensor total = reduced(losses, Reduction::sum);
    const double batch = x.rank() == 0 ? 1 : static_cast<double>(x.size(0));
    return to(div(total, scalar_like(total, batch)), type);
}

Tensor poisson_nll_loss(const Tensor& x0, const Tensor& target0, const PoissonOptions& options) {
    if (intercepted(poisson_nll_loss_info))
        return dispatched(
            poisson_nll_loss_info, [](const auto&... a) { return poisson_nll_loss(a...); }, x0,
            target0, options);
    const auto [x, target] = autocast(poisson_nll_loss_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(poisson_nll_loss_info, {x, target});
    const Tensor w = widened(x, type), t = widened(target, type);
    Tensor losses =
        options.log_input ? sub(exp(w), mul(t, w)) : sub(w, mul(t, log(add(w, options.eps))));
    if (options.full) {
        constexpr double two_pi = 6.28318530717958647693;
        const Tensor stirling = add(sub(mul(t, log(t)), t), mul(log(mul(t, two_pi)), 0.5));
        const Tensor above_one = greater(t, scalar_like(t, 1));
        losses = add(losses, where(above_one, stirling, constant(stirling, 0)));
    }
    return to(reduced(losses, options.reduction), type);
}

Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target, const Tensor& weight,
                                   Reduction reduction) {
    if (intercepted(multilabel_soft_margin_loss_info))
        return dispatched(
            multilabel_soft_margin_loss_info,
            [](const auto&... a) { return multilabel_soft_margin_loss(a...); }, x, target, weight,
            reduction);
    const OpInfo& info = multilabel_soft_margin_loss_info;
    if (x.rank() == 0) throw Error(ErrorCode::shape, std::string(info.name) + ": x has no classes");
    const DType common =
        weight.defined() ? loss_type(info, {x, target, weight}) : loss_type(info, {x, target});
    const DType type = type_through_f32(x.device().kind, common);
    const NoAutocast inside(x.device().kind);
    const Tensor w = widened(x, type), t = widened(target, type);
    const Tensor likelihood =
        add(mul(t, log_sigmoid(w)), mul(add(neg(t), 1.0), log_sigmoid(neg(w))));
    const Tensor losses =
        neg(weight.defined() ? mul(likelihood, widened(weight, type)) : likelihood);
    return to(reduced(mean(losses, {-1}), reduction), type);
}

}  // namespace engine
