#pragma once

#include "ops/loss/loss.h"

namespace engine {

// Losses that require a margin. Computed in f32 (f64 for f64), rounded once. Exactly at the margin
// the slope is 0, as in PyTorch.

/// x where target is not -1, plus max(margin - x, 0) where it is not 1.
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin = 1,
                            Reduction reduction = Reduction::mean);
inline constexpr Op hinge_embedding_loss_op(
    CastPolicy::f32, "hinge_embedding_loss(x, target; margin=1, reduction='mean')", condenses,
    by_name<hinge_embedding_loss>);
/// max(-target (x1 - x2) + margin, 0)
Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           double margin = 0, Reduction reduction = Reduction::mean);
inline constexpr Op margin_ranking_loss_op(
    CastPolicy::f32, "margin_ranking_loss(x1, x2, target; margin=0, reduction='mean')", condenses,
    by_name<margin_ranking_loss>);
/// log(1 + exp(-target x)), without overflow
Tensor soft_margin_loss(const Tensor& x, const Tensor& target,
                        Reduction reduction = Reduction::mean);
inline constexpr Op soft_margin_loss_op(CastPolicy::f32,
                                        "soft_margin_loss(x, target; reduction='mean')",
                                        "The exp inside overflows fp16 above 11.09.",
                                        by_name<soft_margin_loss>);

struct MultiMarginOptions {
    int p = 1;  ///< 1 or 2
    double margin = 1;
    Reduction reduction = Reduction::mean;

    void read(auto& from) { from("p", p)("margin", margin)("reduction", reduction); }
};
/// Margin loss of x (batch, classes) with target i64 (batch), or (classes) with one target: the sum
/// over the other classes j of max(margin - x[target] + x[j], 0)^p, times weight[target], divided
/// by the number of classes. A target outside the classes is Error(value), on a GPU at the next
/// read (tensor/check_values.h).
Tensor multi_margin_loss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                         const MultiMarginOptions& options = {});
inline constexpr Op multi_margin_loss_op(
    CastPolicy::f32, "multi_margin_loss(x, target, weight?; p=1, margin=1, reduction='mean')",
    condenses, by_name<multi_margin_loss>);
/// Margin loss of x (batch, classes), or (classes), and target i64 of its shape, a list of classes
/// in each row that ends at the first -1: the sum over the classes j in the list and k not in it of
/// max(1 - x[j] + x[k], 0), divided by the number of classes. Wrong targets as multi_margin_loss.
/// Takes memory for classes^2 numbers a row.
Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target,
                              Reduction reduction = Reduction::mean);
inline constexpr Op multilabel_margin_loss_op(CastPolicy::f32,
                                              "multilabel_margin_loss(x, target; reduction='mean')",
                                              condenses, by_name<multilabel_margin_loss>);

}  // namespace engine
