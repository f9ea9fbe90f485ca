#pragma once

#include "ops/loss/loss.h"

namespace engine {

/// Classes are dimension 1 of x, or its only one; target i64 has x's shape without it. An element
/// with target ignore_index counts neither in a sum nor in a mean.
struct ClassLossOptions {
    Reduction reduction = Reduction::mean;
    std::int64_t ignore_index = -100;
    double label_smoothing = 0;  ///< cross_entropy only

    void read(auto& from) {
        from("reduction", reduction)("ignore_index", ignore_index)("label_smoothing",
                                                                   label_smoothing);
    }
};

/// -x[target] of log-probabilities; weight: (classes) or undefined; mean is over the weights of the
/// targets. Throws Error(value) for an out-of-range class; on a GPU at the next read
/// (tensor/check_values.h). The same holds for cross_entropy.
Tensor nll_loss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                const ClassLossOptions& options = {});
inline constexpr Op nll_loss_op(CastPolicy::f32,
                                "nll_loss(x, target, weight?; reduction='mean', ignore_index=-100)",
                                condenses, by_name<nll_loss>);
/// Cross-entropy of logits; computes in f32 (f64 for f64). The result is of the logits' type, f32
/// in a region.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                     const ClassLossOptions& options = {});
inline constexpr Op cross_entropy_op(
    CastPolicy::none,
    "cross_entropy(x, target, weight?; reduction='mean', ignore_index=-100, label_smoothing=0)",
    "Not on the list itself: the log_softmax inside writes fp32, so the loss is fp32.",
    by_name<cross_entropy>);

}  // namespace engine
