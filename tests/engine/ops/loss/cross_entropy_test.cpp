#include "ops/loss/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/loss/loss.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {
namespace {

Tensor classes(const std::vector<double>& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64);
}

/// The loss by its definition: the negated log_softmax of the target.
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
            // Sums of 33 terms, each with f32 roundings.
            expect_close(losses[0], losses[1], 33 * 0x1p-22);
            expect_close(gradients[0], gradients[1], 33 * 0x1p-22);
        }
    }
}

TEST(CrossEntropy, ComputesLowLogitsInF32AndReturnsTheirTypeOutsideARegion) {
    // exp(20) overflows f16; the loss does not.
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

const Op passed_info("passed(x)", "Of these tests.");

/// A copy of x whose gradient records the address of its memory.
Tensor passed(const Tensor& x, const void*& gradient_at) {
    const Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device());
    copy_into(y, x);
    return record(passed_info, {x}, y, {}, [&gradient_at](const Tensor& gradient, const Saved&) {
        gradient_at = gradient.data();
        return gradient;
    });
}

TEST(CrossEntropy, WritesTheGradientOverLogitsThatNobodyElseHolds) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
        for (const auto reduction : {Reduction::mean, Reduction::none}) {
            const Tensor target = classes({3, -100, 0, 32, 7});
            const ClassLossOptions options{.reduction = reduction};
            TensorList gradients;
            for (const bool held : {false, true}) {
                Tensor x = random_tensor({5, 33}, dtype, 2);
                x.set_requires_grad(true);
                const void *logits_at = nullptr, *gradient_at = nullptr;
                Tensor kept;
                const Tensor loss = [&] {
                    const Tensor logits = passed(x, gradient_at);
                    logits_at = logits.data();
                    if (held) kept = logits;
                    return sum(cross_entropy(logits, target, {}, options));
                }();
                backward(loss);
                EXPECT_EQ(gradient_at == logits_at, !held);
                gradients.push_back(x.grad());
                if (held) {
                    EXPECT_EQ(kept.values(), x.values());
                }
            }
            EXPECT_EQ(gradients[0].values(), gradients[1].values());
        }
    }
}

TEST(CrossEntropy, TakesLogitsThatDoNotLieRowByRow) {
    TensorList losses, gradients;
    for (const bool turned : {false, true}) {
        Tensor x = random_tensor({5, 33}, DType::f32, 2);
        if (turned) x = contiguous(transpose(x, 0, 1)).detach();
        x.set_requires_grad(true);
        losses.push_back(
            cross_entropy(turned ? transpose(x, 0, 1) : x, classes({3, -100, 0, 32, 7})));
        backward(losses.back());
        gradients.push_back(turned ? transpose(x.grad(), 0, 1) : x.grad());
    }
    EXPECT_EQ(losses[0].values(), losses[1].values());
    EXPECT_EQ(gradients[0].values(), gradients[1].values());
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

}  // namespace
}  // namespace engine
