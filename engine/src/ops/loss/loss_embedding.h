#pragma once

#include "ops/loss/loss.h"

namespace engine {

extern const OpInfo cosine_embedding_loss_info, triplet_margin_loss_info;

// Losses of directions and distances of vectors, computed in f32 (f64 for f64) and rounded once.

/// 1 - cos(x1, x2) where target is 1, max(cos(x1, x2) - margin, 0) where it is -1. x1, x2 (batch,
/// features) with target (batch), or (features) with a target without dimensions.
Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             double margin = 0, Reduction reduction = Reduction::mean);

struct TripletOptions {
    double margin = 1;  ///< above 0
    double p = 2;       ///< of the norm: above 0
    double eps = 1e-6;  ///< added to each difference, so that the norm is not at its corner
    bool swap = false;  ///< the nearer of anchor and positive counts against the negative
    Reduction reduction = Reduction::mean;
};
/// max(|anchor - positive| - |anchor - negative| + margin, 0) by the p-norm over the last
/// dimension.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options = {});

}  // namespace engine
