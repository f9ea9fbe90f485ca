#pragma once

#include "ops/loss/loss.h"

namespace engine {

struct GaussianOptions {
    bool full = false;  ///< with the constant 0.5 log(2 pi)
    double eps = 1e-6;  ///< variances below it count as it; their gradient passes unchanged
    Reduction reduction = Reduction::mean;

    void read(auto& from) { from("full", full)("eps", eps)("reduction", reduction); }
};
/// 0.5 (log(var) + (x - target)^2 / var). var: x's shape, or that without its last dimension, or
/// with a last one of 1. A negative variance is Error(value), on a GPU at the next read
/// (tensor/check_values.h). In a region the result is f32.
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var,
                         const GaussianOptions& options = {});
inline constexpr Op gaussian_nll_loss_op(
    CastPolicy::none, "gaussian_nll_loss(x, target, var; full=False, eps=1e-6, reduction='mean')",
    "Not on the list itself: the logarithm and the square inside are fp32, so the loss is fp32.",
    by_name<gaussian_nll_loss>);

// Losses of directions and distances of vectors, computed in f32 (f64 for f64) and rounded once.

/// 1 - cos(x1, x2) where target is 1, max(cos(x1, x2) - margin, 0) where it is -1. x1, x2 (batch,
/// features) with target (batch), or (features) with a target without dimensions.
Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             double margin = 0, Reduction reduction = Reduction::mean);
inline constexpr Op cosine_embedding_loss_op(
    CastPolicy::f32, "cosine_embedding_loss(x1, x2, target; margin=0, reduction='mean')",
    "Its sums of squares soon overflow fp16.", by_name<cosine_embedding_loss>);

struct TripletOptions {
    double margin = 1;  ///< above 0
    double p = 2;       ///< of the norm: above 0
    double eps = 1e-6;  ///< added to each difference, so that the norm is not at its corner
    bool swap = false;  ///< the nearer of anchor and positive counts against the negative
    Reduction reduction = Reduction::mean;

    void read(auto& from) {
        from("margin", margin)("p", p)("eps", eps)("swap", swap)("reduction", reduction);
    }
};
/// max(|anchor - positive| - |anchor - negative| + margin, 0) by the p-norm over the last
/// dimension.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options = {});
inline constexpr Op triplet_margin_loss_op(CastPolicy::f32,
                                           "triplet_margin_loss(anchor, positive, negative; "
                                           "margin=1, p=2, eps=1e-6, swap=False, reduction='mean')",
                                           "Its sums of powers soon overflow fp16.",
                                           by_name<triplet_margin_loss>);

}  // namespace engine
