#pragma once

#include <string>

#include "core/autograd.h"

namespace engine {

extern const OpInfo nll_loss_info, cross_entropy_info, mse_loss_info, l1_loss_info,
    log_sigmoid_info, binary_cross_entropy_with_logits_info, binary_cross_entropy_info;

/// How the losses of the elements become one.
enum class Reduction { none, mean, sum };
/// "none", "mean" or "sum". Throws Error(value).
Reduction reduction_from_name(const std::string& name);

/// Classes are dimension 1 of x, or its only one; target i64 has x's shape without it. An element
/// with target ignore_index counts neither in a sum nor in a mean. weight: (classes) or undefined.
struct ClassLossOptions {
    Reduction reduction = Reduction::mean;
    std::int64_t ignore_index = -100;
    double label_smoothing = 0;  ///< cross_entropy only
};

/// -x[target] of log-probabilities; mean is over the weights of the targets. Error(value) for a
/// class that is not there, on a GPU at the next read (ops/check_values.h), as in cross_entropy.
Tensor nll_loss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                const ClassLossOptions& options = {});
/// Of logits; computes in f32 (f64 for f64). The result is of the logits' type, f32 in a region.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                     const ClassLossOptions& options = {});

/// (x - target)^2
Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// |x - target|
Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// log(1 / (1 + exp(-x))), without overflow
Tensor log_sigmoid(const Tensor& x);
/// (1 - t) x - (1 + (pos_weight - 1) t) log_sigmoid(x), times weight; both weights optional.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        const Tensor& weight = {}, const Tensor& pos_weight = {},
                                        Reduction reduction = Reduction::mean);
/// -(t log(x) + (1 - t) log(1 - x)), times weight, logs no lower than -100. x in [0, 1], else
/// Error(value), on a GPU at the next read. Unsafe under autocast: Error(state) in a region (1.8).
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean);

/// losses, or their mean or sum, in their own type.
Tensor reduced(const Tensor& losses, Reduction reduction);

}  // namespace engine
