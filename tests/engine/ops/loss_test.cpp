#include "ops/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/error.h"
#include "gradcheck.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/reduce.h"
#include "ops/softmax.h"
#include "ops/unary.h"
#include "ops/view.h"

namespace engine {
namespace {

Tensor classes(const std::vector<double>& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64);
}

/// The loss by its definition: log_softmax, then the target's element with its sign turned.
Tensor unfused(const Tensor& x, const Tensor& target, const ClassLossOptions& options) {
    return nll_loss(log_softmax(x, 1), target, {}, options);
}

TEST(CrossEntropy, TheFusedFormMatchesLogSoftmaxAndNllWithGradients) {
    for (const auto reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
        for (const std::int64_t n : {1, 31, 33}) {
            std::vector<double> labels;
            for (std::int64_t i = 0; i < n; ++i) labels.push_back(static_cast<double>(i * 7 % 10));
            const ClassLossOptions options{.reduction = reduction, .ignore_index = 4};
            TensorList losses, gradients;
            for (const bool fused : {true, false}) {
                Tensor x = random_tensor({n, 10}, DType::f32, 1, -8, 8);
                x.set_requires_grad(true);
                losses.push_back(fused ? cross_entropy(x, classes(labels), {}, options)
                                       : unfused(x, classes(labels), options));
                backward(sum(losses.back()));
                gradients.push_back(x.grad());
            }
            // Sums of 33 terms of f32 roundings.
            expect_close(losses[0], losses[1], 33 * 0x1p-22);
            expect_close(gradients[0], gradients[1], 33 * 0x1p-22);
        }
    }
}

TEST(CrossEntropy, ComputesLowLogitsInF32AndReturnsTheirTypeOutsideARegion) {
    // exp(20) is beyond f16; the loss is not.
    Tensor x = Tensor::of({20, 0, 0, 20}, {2, 2}, DType::f16);
    x.set_requires_grad(true);
    const Tensor loss = cross_entropy(x, classes({0, 0}));
    EXPECT_EQ(loss.dtype(), DType::f16);
    EXPECT_NEAR(loss.item(), 10, 0.01);
    backward(loss);
    EXPECT_EQ(x.grad().dtype(), DType::f16);
    EXPECT_NEAR(x.grad().values()[2], -0.5, 1e-3);
}

TEST(CrossEntropy, IgnoredRowsCountNeitherInTheLossNorInTheMeanNorInTheGradient) {
    Tensor x = Tensor::of({0, 0, 5, 1}, {2, 2});
    x.set_requires_grad(true);
    const Tensor loss = cross_entropy(x, classes({1, -100}));
    EXPECT_NEAR(loss.item(), std::log(2.0), 1e-6);
    backward(loss);
    EXPECT_EQ(x.grad().values()[2], 0);
    EXPECT_EQ(x.grad().values()[3], 0);
    EXPECT_TRUE(std::isnan(cross_entropy(x, classes({-100, -100})).item()));
}

TEST(CrossEntropy, ATargetOfAnotherShapeOrTypeIsAnError) {
    const Tensor x = Tensor::zeros({2, 3}, DType::f32);
    EXPECT_THROW(cross_entropy(x, classes({0, 1, 2})), Error);
    EXPECT_THROW(cross_entropy(x, Tensor::zeros({2}, DType::f32)), Error);
}

TEST(CrossEntropy, NanLogitsGiveANanLoss) {
    EXPECT_TRUE(std::isnan(cross_entropy(Tensor::of({NAN, 0}, {1, 2}), classes({1})).item()));
}

TEST(CrossEntropy, SmoothingMovesAShareOfTheTargetToEveryClass) {
    const Tensor x = random_tensor({3, 4}, DType::f64, 1);
    const Tensor log_probs = log_softmax(x, 1);
    const double hard = nll_loss(log_probs, classes({0, 3, 1})).item();
    const double even = -mean(log_probs).item();
    const double smooth = cross_entropy(x, classes({0, 3, 1}), {}, {.label_smoothing = 0.2}).item();
    EXPECT_NEAR(smooth, 0.8 * hard + 0.2 * even, 1e-12);
}

TEST(CrossEntropy, TheMeanOfLossesWhoseSumLeavesF16IsFinite) {
    const Tensor x = Tensor::zeros({400, 100}, DType::f16);
    const Tensor target = classes(std::vector<double>(400, 7));
    EXPECT_NEAR(cross_entropy(x, target, {}, {.label_smoothing = 0.1}).item(), std::log(100), 0.01);
    const Tensor weight = Tensor::full({100}, 60, DType::f16);
    EXPECT_NEAR(cross_entropy(x, target, weight).item(), std::log(100), 0.01);
}

TEST(NllLoss, TheMeanOfLossesWhoseSumLeavesF16IsFinite) {
    const Tensor x = Tensor::full({20000, 1}, -6, DType::f16);
    const Tensor target = classes(std::vector<double>(20000, 0));
    EXPECT_EQ(nll_loss(x, target).item(), 6);
    EXPECT_EQ(nll_loss(x, target, {}, {.reduction = Reduction::sum}).item(), INFINITY);
}

TEST(NllLoss, TheMeanIsOverTheWeightsOfTheTargets) {
    const Tensor x = Tensor::of({-1, -2, -3, -4}, {2, 2}), weight = Tensor::of({3, 1}, {2});
    EXPECT_NEAR(nll_loss(x, classes({0, 1}), weight).item(), (3 * 1 + 1 * 4) / 4.0, 1e-6);
}

TEST(Softmax, RowsAddUpToOneAtEdgeSizes) {
    for (const std::int64_t n : {1, 31, 32, 33}) {
        const Tensor y = softmax(random_tensor({3, n}, DType::f32, 1, -20, 20), 1);
        expect_close(sum(y, {1}), Tensor::full({3}, 1, DType::f32), 33 * 0x1p-23);
    }
    EXPECT_EQ(softmax(Tensor::zeros({0, 3}, DType::f32), 1).shape(), (Shape{0, 3}));
    EXPECT_EQ(softmax(Tensor::zeros({2, 0}, DType::f32), 1).shape(), (Shape{2, 0}));
}

TEST(Softmax, ARowWithInfinityOrNanIsNan) {
    const auto y = softmax(Tensor::of({INFINITY, 0, NAN, 0, 0, 0}, {3, 2}), 1).values();
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_EQ(y[4], 0.5);
}

TEST(Softmax, AGivenTypeIsObeyed) {
    const Tensor x = random_tensor({2, 3}, DType::f16, 1);
    EXPECT_EQ(softmax(x, 1).dtype(), DType::f16);
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
        EXPECT_EQ(softmax(x, 1, dtype).dtype(), dtype);
    EXPECT_THROW(softmax(Tensor::zeros({2}, DType::i64), 0), Error);
    EXPECT_THROW(softmax(x, 2), Error);
}

TEST(BinaryCrossEntropy, TheLogitsFormIsFiniteWhereTheProbabilityIsNot) {
    const Tensor x = Tensor::of({100, -100, 0}, {3}), t = Tensor::of({0, 1, 1}, {3});
    const auto y = binary_cross_entropy_with_logits(x, t, {}, {}, Reduction::none).values();
    EXPECT_EQ(y[0], 100);
    EXPECT_EQ(y[1], 100);
    EXPECT_NEAR(y[2], std::log(2.0), 1e-7);
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
    EXPECT_THROW(reduction_from_name("avg"), Error);
}

}  // namespace
}  // namespace engine
