#pragma once

#include "ops/loss/loss.h"

namespace engine {

// Losses of a likelihood; x and target broadcast and promote. Computed in f32 (f64 for f64),
// rounded once.

struct KlDivOptions {
    Reduction reduction = Reduction::mean;
    bool batch_mean = false;  ///< the sum divided by x's first size, whatever `reduction` says
    bool log_target = false;  ///< target holds logarithms

    void read(auto& from) {
        batch_mean = from.word("reduction") == "batchmean";
        if (!batch_mean) from("reduction", reduction);
        from("log_target", log_target);
    }
};
/// target (log(target) - x) for log-probabilities x; 0 where target is 0.
Tensor kl_div(const Tensor& x, const Tensor& target, const KlDivOptions& options = {});
inline constexpr Op kl_div_op(CastPolicy::f32,
                              "kl_div(x, target; reduction='mean', log_target=False)", condenses,
                              by_name<kl_div>);

struct PoissonOptions {
    bool log_input = true;  ///< x is the logarithm of the rate
    bool full = false;      ///< with Stirling's approximation of log(target!), for target > 1
    double eps = 1e-8;      ///< added to a rate before its logarithm
    Reduction reduction = Reduction::mean;

    void read(auto& from) {
        from("log_input", log_input)("full", full)("eps", eps)("reduction", reduction);
    }
};
/// exp(x) - target x, or x - target log(x + eps).
Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonOptions& options = {});
inline constexpr Op poisson_nll_loss_op(
    CastPolicy::f32,
    "poisson_nll_loss(x, target; log_input=True, full=False, eps=1e-8, reduction='mean')",
    "The exp inside overflows fp16 above 11.09.", by_name<poisson_nll_loss>);

/// Mean over the last dimension of -(target logsigmoid(x) + (1 - target) logsigmoid(-x)), times
/// weight if given. In a region the result is f32.
Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                                   Reduction reduction = Reduction::mean);
inline constexpr Op multilabel_soft_margin_loss_op(
    CastPolicy::none, "multilabel_soft_margin_loss(x, target, weight?; reduction='mean')",
    "Not on the list itself: the sum over the labels inside writes fp32, so the loss is fp32.",
    by_name<multilabel_soft_margin_loss>);

}  // namespace engine
