#pragma once

#include "ops/loss/loss.h"

namespace engine {

extern const OpInfo nll_loss_info, cross_entropy_info;

/// Classes are dimension 1 of x, or its only one; target i64 has x's shape without it. An element
/// with target ignore_index counts neither in a sum nor in a mean.
struct ClassLossOptions {
    Reduction reduction = Reduction::mean;
    std::int64_t ignore_index = -100;
    double label_smoothing = 0;  ///< cross_entropy only
};

/// -x[target] of log-probabilities; weight: (classes) or undefined; mean is over the weights of the
/// targets. Throws Error(value) for an out-of-range class; on a GPU at the next read
/// (tensor/check_values.h). The same holds for cross_entropy.
Tensor nll_loss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                const ClassLossOptions& options = {});
/// Cross-entropy of logits; computes in f32 (f64 for f64). The result is of the logits' type, f32
/// in a region.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                     const ClassLossOptions& options = {});

}  // namespace engine
