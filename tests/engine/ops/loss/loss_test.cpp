#include "ops/loss/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/loss/cross_entropy.h"
#include "ops/catalog_only/loss_ctc.h"
#include "ops/catalog_only/loss_distance.h"
#include "ops/catalog_only/loss_likelihood.h"
#include "ops/catalog_only/loss_margin.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "support/op_log.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using V = std::vector<double>;

Tensor row(const V& values, DType dtype = DType::f32) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, dtype);
}
Tensor leaf(const V& values) {
    Tensor x = row(values);
    x.set_requires_grad(true);
    return x;
}

TEST(SmoothL1, IsASquareBelowBetaAndAStraightLineBeyond) {
    const Tensor x = leaf({0.5, 3, -3, 2}), zero = Tensor::zeros({4}, DType::f32);
    const Tensor y = smooth_l1_loss(x, zero, Reduction::none, 2);
    EXPECT_EQ(y.values(), (V{0.0625, 2, 2, 1}));
    backward(sum(y));
    EXPECT_EQ(x.grad().values(), (V{0.25, 1, -1, 1}));
    EXPECT_THROW(smooth_l1_loss(x, zero, Reduction::none, -1), Error);
}

TEST(SmoothL1, WithBetaZeroIsL1) {
    const Tensor x = leaf({1, -1, 0});
    backward(smooth_l1_loss(x, Tensor::zeros({3}, DType::f32), Reduction::sum, 0));
    EXPECT_EQ(x.grad().values(), (V{1, -1, 0}));
}

TEST(SmoothL1, AnErrorThatSquaredLeavesF32IsFineOnTheLine) {
    const Tensor x = leaf({1e30});
    const Tensor y = smooth_l1_loss(x, Tensor::zeros({1}, DType::f32));
    EXPECT_EQ(y.item(), static_cast<double>(1e30F));
    backward(y);
    EXPECT_EQ(x.grad().item(), 1);
}

TEST(Huber, IsDeltaTimesSmoothL1) {
    const Tensor x = row({0.5, 3, -3, 2}), zero = Tensor::zeros({4}, DType::f32);
    EXPECT_EQ(huber_loss(x, zero, Reduction::none, 2).values(), (V{0.125, 4, 4, 2}));
    EXPECT_THROW(huber_loss(x, zero, Reduction::none, 0), Error);
}

TEST(KlDiv, BatchmeanDividesByTheFirstSizeAndATargetOfZeroCostsNothing) {
    const Tensor x = Tensor::of({-1, -2, -3, -4}, {2, 2}), t = Tensor::of({0, 1, 1, 0}, {2, 2});
    EXPECT_EQ(kl_div(x, t, {.reduction = Reduction::none}).values(), (V{0, 2, 3, 0}));
    EXPECT_EQ(kl_div(x, t).item(), 1.25);
    EXPECT_EQ(kl_div(x, t, {.batch_mean = true}).item(), 2.5);
}

TEST(PoissonNll, TheStirlingTermIsForTargetsAboveOne) {
    const Tensor x = row({0, 0}), t = row({1, 4});
    const auto plain = poisson_nll_loss(x, t, {.reduction = Reduction::none}).values();
    const auto full = poisson_nll_loss(x, t, {.full = true, .reduction = Reduction::none}).values();
    EXPECT_EQ(plain, (V{1, 1}));
    EXPECT_EQ(full[0], 1);
    EXPECT_NEAR(full[1], 1 + 4 * std::log(4) - 4 + 0.5 * std::log(8 * std::acos(-1.0)), 1e-6);
}

TEST(GaussianNll, ASmallVarianceCountsAsEpsAndItsGradientPasses) {
    const Tensor var = leaf({1e-9, 1});
    const Tensor y = gaussian_nll_loss(row({0, 0}), row({0, 1}), var,
                                       {.eps = 0.5, .reduction = Reduction::none});
    EXPECT_NEAR(y.values()[0], 0.5 * std::log(0.5), 1e-6);
    EXPECT_EQ(y.values()[1], 0.5);
    backward(sum(y));
    EXPECT_EQ(var.grad().values(), (V{1, 0}));  // 0.5 / 0.5, and 0.5 (1 - 1)
}

TEST(GaussianNll, TakesAVarianceForEachRowAndRefusesOthers) {
    const Tensor x = Tensor::zeros({2, 3}, DType::f32), one = Tensor::full({2}, 1, DType::f32);
    EXPECT_EQ(gaussian_nll_loss(x, x, one).item(), 0);
    EXPECT_EQ(gaussian_nll_loss(x, x, Tensor::full({2, 1}, 1, DType::f32)).item(), 0);
    EXPECT_THROW(gaussian_nll_loss(x, x, Tensor::full({3}, 1, DType::f32)), Error);
}

TEST(CosineEmbedding, HasNoSlopeAtAVectorOfZeros) {
    Tensor x = Tensor::zeros({1, 2}, DType::f32);
    x.set_requires_grad(true);
    const Tensor y = cosine_embedding_loss(x, Tensor::of({3, 4}, {1, 2}), row({1}));
    EXPECT_EQ(y.item(), 1);
    backward(y);
    for (const double g : x.grad().values()) EXPECT_TRUE(std::isfinite(g));
}

TEST(CosineEmbedding, ComparesRowsAndRefusesOtherRanks) {
    const Tensor a = Tensor::of({1, 0, 1, 0}, {2, 2}), b = Tensor::of({1, 0, 0, 1}, {2, 2});
    EXPECT_EQ(cosine_embedding_loss(a, b, row({1, -1}), 0, Reduction::none).values(), (V{0, 0}));
    EXPECT_EQ(cosine_embedding_loss(a, b, row({-1, 1}), 0.25, Reduction::none).values(),
              (V{0.75, 1}));
    EXPECT_THROW(cosine_embedding_loss(row({1, 2}), row({1, 2}), row({1})), Error);
}

TEST(CosineEmbedding, OfOneFeatureIsOneOrMinusOneAndFlat) {
    Tensor x = Tensor::of({0.3, -2}, {2, 1});
    x.set_requires_grad(true);
    const Tensor y =
        cosine_embedding_loss(x, Tensor::of({0.7, 5}, {2, 1}), row({1, 1}), 0, Reduction::none);
    EXPECT_NEAR(y.values()[0], 0, 4 * 0x1p-24);
    EXPECT_NEAR(y.values()[1], 2, 4 * 0x1p-23);
    backward(sum(y));
    // Two terms of 1 / |x| cancel.
    EXPECT_NEAR(x.grad().values()[0], 0, 8 * 0x1p-24 / 0.3);
    EXPECT_NEAR(x.grad().values()[1], 0, 8 * 0x1p-24 / 2);
}

TEST(CosineEmbedding, SumsSquaresOfF16InF32) {
    const Tensor x = Tensor::of({300, 300}, {1, 2}, DType::f16);
    EXPECT_NEAR(cosine_embedding_loss(x, x, Tensor::of({1}, {1}, DType::f16)).item(), 0, 1e-3);
}

TEST(TripletMargin, HasTheDistancesOfTheNorm) {
    const Tensor a = Tensor::zeros({1, 2}, DType::f32), p = Tensor::of({3, 4}, {1, 2}),
                 n = Tensor::of({6, 8}, {1, 2});
    EXPECT_EQ(triplet_margin_loss(a, p, n, {.margin = 7, .eps = 0}).item(), 2);
    EXPECT_EQ(triplet_margin_loss(a, p, n, {.margin = 8, .p = 1, .eps = 0}).item(), 1);
    EXPECT_EQ(triplet_margin_loss(a, p, n, {.margin = 7, .eps = 0, .swap = true}).item(), 7);
    EXPECT_THROW(triplet_margin_loss(a, p, n, {.p = 0}), Error);
    EXPECT_EQ(triplet_margin_loss(a, p, n, {.margin = 5, .p = INFINITY, .eps = 0}).item(), 1);
    EXPECT_THROW(triplet_margin_loss(a, p, n, {.margin = 0}), Error);
}

TEST(TripletMargin, HasNoSlopeWhereADistanceIsZero) {
    for (const double p : {1.0, 2.0, 3.0, 0.5}) {
        Tensor a = Tensor::zeros({1, 2}, DType::f32);
        a.set_requires_grad(true);
        const Tensor same = Tensor::zeros({1, 2}, DType::f32);
        backward(triplet_margin_loss(a, same, same, {.p = p, .eps = 0}));
        EXPECT_EQ(a.grad().values(), (V{0, 0})) << p;
    }
}

TEST(MarginLosses, HaveNoSlopeOnTheBorder) {
    const Tensor a = leaf({0.5}), b = leaf({0.5});
    backward(margin_ranking_loss(a, b, row({1})));
    EXPECT_EQ(a.grad().item(), 0);
    const Tensor x = leaf({1, 1});
    const Tensor y = hinge_embedding_loss(x, row({-1, 0}), 1, Reduction::sum);
    EXPECT_EQ(y.item(), 1);
    backward(y);
    EXPECT_EQ(x.grad().values(), (V{0, 1}));
}

TEST(MarginLosses, SoftMarginDoesNotOverflow) {
    const Tensor x = leaf({-1000, 1000});
    const Tensor y = soft_margin_loss(x, row({1, 1}), Reduction::none);
    EXPECT_EQ(y.values(), (V{1000, 0}));
    backward(sum(y));
    EXPECT_EQ(x.grad().values(), (V{-1, 0}));
}

TEST(MultiMargin, ComparesEveryOtherClassWithTheTarget) {
    const Tensor x = Tensor::of({0.1, 0.2, 0.4, 0.8}, {1, 4}, DType::f64);
    const Tensor target = Tensor::of({3}, {1}, DType::i64);
    EXPECT_NEAR(multi_margin_loss(x, target).item(), (0.3 + 0.4 + 0.6) / 4, 1e-12);
    EXPECT_NEAR(multi_margin_loss(x, target, {}, {.p = 2}).item(), (0.09 + 0.16 + 0.36) / 4, 1e-12);
    const Tensor weight = Tensor::of({1, 1, 1, 2}, {4}, DType::f64);
    EXPECT_NEAR(multi_margin_loss(x, target, weight).item(), 2 * 1.3 / 4, 1e-12);
    EXPECT_THROW(multi_margin_loss(x, target, {}, {.p = 3}), Error);
    EXPECT_THROW(multi_margin_loss(x, target, to(weight, DType::f32)), Error);
}

TEST(MultilabelMargin, ReadsTheListUpToTheFirstMinusOne) {
    const Tensor x = row({0.1, 0.2, 0.4, 0.8});
    const auto loss = [&](const V& list) {
        return multilabel_margin_loss(x, row(list, DType::i64)).item();
    };
    EXPECT_NEAR(loss({3, 0, -1, 1}), 0.85, 1e-6);
    EXPECT_NEAR(loss({3, 3, -1, 1}), 0.65, 1e-6);
    EXPECT_EQ(loss({-1, 0, 0, 0}), 0);
    EXPECT_NEAR(loss({3, -1, 9, 9}), (0.3 + 0.4 + 0.6) / 4, 1e-6);
}

TEST(ClassMargins, ATargetOfAnotherShapeIsAnError) {
    const Tensor x = row({0.1, 0.2, 0.4, 0.8});
    EXPECT_THROW(multi_margin_loss(x, row({1})), Error);
    EXPECT_THROW(multilabel_margin_loss(x, row({1, 2}, DType::i64)), Error);
}

Tensor whole(const V& values) { return row(values, DType::i64); }

// Two steps with two equally likely classes: the target 1 can be written as (1, 1), (0, 1) and (1,
// 0).
TEST(Ctc, CountsEveryWayOfWritingTheTarget) {
    const Tensor even = Tensor::full({2, 1, 2}, std::log(0.5), DType::f64);
    const auto loss = [&](const Tensor& targets, double length) {
        return ctc_loss(even, targets, whole({2}), whole({length}), {.reduction = Reduction::sum})
            .item();
    };
    EXPECT_NEAR(loss(Tensor::of({1}, {1, 1}, DType::i64), 1), -std::log(0.75), 1e-12);
    EXPECT_NEAR(loss(Tensor::of({1}, {1, 1}, DType::i64), 0), -std::log(0.25), 1e-12);
    EXPECT_EQ(loss(Tensor::of({1, 1}, {1, 2}, DType::i64), 2), INFINITY);  // needs a blank between
}

TEST(Ctc, ATargetThatDoesNotFitCostsNothingIfAskedFor) {
    Tensor even = Tensor::full({2, 1, 2}, std::log(0.5), DType::f32);
    even.set_requires_grad(true);
    const Tensor y = ctc_loss(even, Tensor::of({1, 1}, {1, 2}, DType::i64), whole({2}), whole({2}),
                              {.zero_infinity = true});
    EXPECT_EQ(y.item(), 0);
    backward(y);
    EXPECT_EQ(even.grad().values(), (V{0, 0, 0, 0}));
}

TEST(MultiMargin, ANaNIsNotAboveTheMarginAndCountsNothing) {
    Tensor x = Tensor::of({2, NAN, 1.5}, {3}, DType::f32);
    x.set_requires_grad(true);
    const Tensor y = multi_margin_loss(x, Tensor::of({0}, {}, DType::i64), {}, {.p = 2});
    EXPECT_NEAR(y.item(), 0.25 / 3, 1e-7);
    backward(y);
    EXPECT_EQ(x.grad().values()[1], 0);
}

TEST(MultilabelMargin, ANaNIsNotAboveTheMarginAndCountsNothing) {
    Tensor x = Tensor::of({0.5, NAN, 0.25}, {3}, DType::f32);
    x.set_requires_grad(true);
    const Tensor y = multilabel_margin_loss(x, Tensor::of({0, -1, -1}, {3}, DType::i64));
    EXPECT_NEAR(y.item(), 0.75 / 3, 1e-7);
    backward(y);
    EXPECT_EQ(x.grad().values()[1], 0);
}

TEST(Ctc, AClassOfNoProbabilityHasNoGradient) {
    // Three classes. The last has probability 0 and is not in the target. PyTorch's gradient there
    // is NaN.
    const double half = std::log(0.5);
    Tensor x = Tensor::of({half, half, -INFINITY, half, half, -INFINITY}, {2, 1, 3}, DType::f64);
    x.set_requires_grad(true);
    const Tensor y = ctc_loss(x, Tensor::of({1}, {1, 1}, DType::i64), whole({2}), whole({1}),
                              {.reduction = Reduction::sum});
    EXPECT_NEAR(y.item(), -std::log(0.75), 1e-12);
    backward(y);
    // Two of the three paths have a blank in each step and two the label: 1/2 - 1/3, 1/2 - 2/3.
    const auto dx = x.grad().values();
    for (const std::size_t step : {0, 3}) {
        EXPECT_NEAR(dx[step], 1.0 / 6, 1e-12);
        EXPECT_NEAR(dx[step + 1], -1.0 / 6, 1e-12);
        EXPECT_EQ(dx[step + 2], 0);
    }
}

TEST(Ctc, TargetsBehindOneAnotherAreThoseOfTheRows) {
    const Tensor x = random_tensor({5, 2, 3}, DType::f64, 1, -3, -0.5);
    const Tensor lengths = whole({2, 1}), inputs = whole({5, 4});
    const Tensor rows = Tensor::of({1, 2, 2, -7}, {2, 2}, DType::i64);
    EXPECT_EQ(ctc_loss(x, rows, inputs, lengths).item(),
              ctc_loss(x, whole({1, 2, 2}), inputs, lengths).item());
    EXPECT_THROW(ctc_loss(x, whole({1, 2}), inputs, lengths), Error);
    EXPECT_THROW(ctc_loss(x, whole({1, 2, 2, 1}), inputs, lengths), Error);
    // Rejected before memory for rows of that length is allocated.
    EXPECT_THROW(ctc_loss(x, whole({1, 2, 2}), inputs, whole({1e12, 1})), Error);
}

TEST(Ctc, RefusesSixteenBitsAndABlankThatIsNoClass) {
    const Tensor x = Tensor::zeros({3, 1, 3}, DType::f32);
    const Tensor rows = Tensor::of({1}, {1, 1}, DType::i64);
    const auto entered = AutocastRegion(here, true, DType::f16).enter();
    EXPECT_THROW(ctc_loss(to(x, DType::f16), rows, whole({3}), whole({1})), Error);
    EXPECT_EQ(ctc_loss(x, rows, whole({3}), whole({1})).dtype(), DType::f32);
    EXPECT_THROW(ctc_loss(x, rows, whole({3}), whole({1}), {.blank = 3}), Error);
}

// M9: losses without an entry end in f32, because of the ops they consist of.
TEST(Losses, M9ThoseWithoutAnEntryAreF32InARegionToo) {
    const Tensor x = row({0.5, 1}, DType::f16), t = row({0, 1}, DType::f16);
    EXPECT_EQ(multilabel_soft_margin_loss(x, t).dtype(), DType::f16);
    const auto entered = AutocastRegion(here, true, DType::f16).enter();
    EXPECT_EQ(multilabel_soft_margin_loss(x, t).dtype(), DType::f32);
    EXPECT_EQ(gaussian_nll_loss(x, t, x).dtype(), DType::f32);
    EXPECT_EQ(gaussian_nll_loss(to(x, DType::f64), t, x).dtype(), DType::f64);
    EXPECT_EQ(huber_loss(x, t).dtype(), DType::f32);
}

TEST(BinaryCrossEntropy, TheLogitsFormIsFiniteWhereTheProbabilityIsNot) {
    const Tensor x = Tensor::of({100, -100, 0}, {3}), t = Tensor::of({0, 1, 1}, {3});
    const auto y = binary_cross_entropy_with_logits(x, t, {}, {}, Reduction::none).values();
    EXPECT_EQ(y[0], 100);
    EXPECT_EQ(y[1], 100);
    EXPECT_NEAR(y[2], std::log(2.0), 1e-7);
}

/// Losses and gradient of logits around 0 and far from it, each with its own factor or the mean. On a
/// GPU one kernel computes them, unless the targets have a gradient.
std::vector<Tensor> logits_losses_of(Reduction reduction, bool target_has_gradient = false) {
    Tensor x = Tensor::of({-200, -3, -0.5, -0.0, 0.0, 1e-8, 0.7, 30, 120}, {9, 1});
    x.set_requires_grad(true);
    Tensor t = Tensor::of({1, 0, 1, 0, 1, 0.25, 1, 0, 1}, {9, 1});
    t.set_requires_grad(target_has_gradient);
    const Tensor y = binary_cross_entropy_with_logits(x, t, {}, {}, reduction);
    const Tensor factors = Tensor::of({3, -1, 0.1, 7, 2, 5, -0.3, 1, 4}, {9, 1});
    backward(reduction == Reduction::none ? sum(mul(y, factors)) : mul(y, 3.0));
    return {y.detach(), x.grad()};
}

TEST(BinaryCrossEntropy, TheLogitsFormHasTheSameBitsByOneKernelAndBySingleOperations) {
    for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
        const std::vector<Tensor> found = logits_losses_of(reduction);
        OpLog log;
        const ObserverScope watched(log);
        const std::vector<Tensor> expected = logits_losses_of(reduction, true);
        EXPECT_GT(log.forward.size(), 5U) << "the single operations";
        for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(found[i].values(), expected[i].values());
    }
}

TEST(BinaryCrossEntropy, TheLogitsFormInF32HasASecondDerivative) {
    Tensor x = Tensor::of({-3, 0.5, 2}, {3});
    x.set_requires_grad(true);
    const Tensor y =
        binary_cross_entropy_with_logits(x, Tensor::of({0, 1, 0}, {3}), {}, {}, Reduction::sum);
    const Tensor slope = grad({&y, 1}, {&x, 1}, {}, {.create_graph = true}).front();
    const Tensor total = sum(slope);
    const std::vector<double> bend = grad({&total, 1}, {&x, 1}).front().values();
    for (std::size_t i = 0; i < 3; ++i) {
        const double s = 1 / (1 + std::exp(-x.values()[i]));
        EXPECT_NEAR(bend[i], s * (1 - s), 8 * 0x1p-24);
    }
}

TEST(BinaryCrossEntropy, TheLogitsFormHasItsSlopeAtZero) {
    Tensor x = Tensor::zeros({1}, DType::f64);
    x.set_requires_grad(true);
    backward(binary_cross_entropy_with_logits(x, Tensor::full({1}, 1, DType::f64)));
    EXPECT_EQ(x.grad().item(), -0.5);
}

TEST(BinaryCrossEntropy, LogarithmsStopAtMinus100AndTheEndsHaveAGradient) {
    Tensor x = Tensor::of({0, 1}, {2});
    x.set_requires_grad(true);
    const Tensor y = binary_cross_entropy(x, Tensor::of({1, 1}, {2}), {}, Reduction::none);
    EXPECT_EQ(y.values(), (std::vector<double>{100, 0}));
    backward(sum(y));
    for (const double g : x.grad().values()) EXPECT_TRUE(std::isfinite(g));
}

TEST(BinaryCrossEntropy, RefusesMixedTypes) {
    const Tensor t = Tensor::zeros({1}, DType::f32);
    EXPECT_THROW(binary_cross_entropy(Tensor::of({0.5}, {1}, DType::f16), t), Error);
}

TEST(Losses, ReduceToNoneMeanOrSum) {
    const Tensor x = Tensor::of({1, 4}, {2}), t = Tensor::of({0, 1}, {2});
    EXPECT_EQ(mse_loss(x, t).item(), 5);
    EXPECT_EQ(mse_loss(x, t, Reduction::sum).item(), 10);
    EXPECT_EQ(mse_loss(x, t, Reduction::none).values(), (std::vector<double>{1, 9}));
    EXPECT_EQ(l1_loss(x, t).item(), 2);
    EXPECT_FALSE(value_of_name<Reduction>("avg"));
}

}  // namespace
}  // namespace engine
