#pragma once

#include "ops/loss/loss.h"

namespace engine {

extern const OpInfo kl_div_info, poisson_nll_loss_info, multilabel_soft_margin_loss_info;

// Losses of a likelihood; x and target broadcast and promote. Computed in f32 (f64 for f64),
// rounded once.

struct KlDivOptions {
    Reduction reduction = Reduction::mean;
    bool batch_mean = false;  ///< the sum divided by x's first size, whatever `reduction` says
    bool log_target = false;  ///< target holds logarithms
};
/// target (log(target) - x) for log-probabilities x; 0 where target is 0.
Tensor kl_div(const Tensor& x, const Tensor& target, const KlDivOptions& options = {});

struct PoissonOptions {
    bool log_input = true;  ///< x is the logarithm of the rate
    bool full = false;      ///< with Stirling's approximation of log(target!), for target > 1
    double eps = 1e-8;      ///< added to a rate before its logarithm
    Reduction reduction = Reduction::mean;
};
/// exp(x) - target x, or x - target log(x + eps).
Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonOptions& options = {});

/// Mean over the last dimension of -(target logsigmoid(x) + (1 - target) logsigmoid(-x)), times
/// weight if given. In a region the result is f32.
Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                                   Reduction reduction = Reduction::mean);

}  // namespace engine
