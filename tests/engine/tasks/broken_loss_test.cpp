#include "tasks/broken_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "ops/loss/cross_entropy.h"
#include "support/expectations.h"
#include "tasks/task_descriptor.h"
#include "trained_steps.h"

namespace engine {
namespace {

using testing::HasSubstr;

const Tensor& labels() {
    static const Tensor t = Tensor::of({0, 2}, {2}, DType::i64);
    return t;
}
Tensor logits(DType dtype) { return Tensor::of({0.5, -1, 2, 0.25, 1.5, -0.75}, {2, 3}, dtype); }

TEST(BrokenLoss, IntactItIsCrossEntropy) {
    EXPECT_EQ(class_loss(TeachLoss::intact)(logits(DType::f32), labels()).item(),
              cross_entropy(logits(DType::f32), labels()).item());
}

TEST(BrokenLoss, OfProbabilitiesItIsTheMeanBinaryCrossEntropy) {
    double wanted = 0;
    const double x[] = {0.5, -1, 2, 0.25, 1.5, -0.75}, y[] = {1, 0, 0, 0, 0, 1};
    for (int i = 0; i < 6; ++i) {
        const double p = 1 / (1 + std::exp(-x[i]));
        wanted -= (y[i] * std::log(p) + (1 - y[i]) * std::log(1 - p)) / 6;
    }
    const auto loss = [](DType dtype) {
        return class_loss(TeachLoss::bce_probabilities)(logits(dtype), labels()).item();
    };
    EXPECT_NEAR(loss(DType::f32), wanted, 1e-6);
    EXPECT_NEAR(loss(DType::f16), wanted, 2e-3);
}

TEST(BrokenLoss, AutocastRefusesTheBinaryCrossEntropyOfProbabilities) {
    const AutocastRegion region(Device::Kind::cpu, true, DType::f16);
    const auto entered = region.enter();
    EXPECT_THROW(class_loss(TeachLoss::bce_probabilities)(logits(DType::f16), labels()), Error);
}

TEST(BrokenLoss, MaskedWithAnF32NumberItIsCrossEntropyButNaNInFp16) {
    const auto loss = [](DType dtype) {
        return class_loss(TeachLoss::where_mismatch)(logits(dtype), labels()).item();
    };
    EXPECT_NEAR(loss(DType::f32), cross_entropy(logits(DType::f32), labels()).item(), 1e-6);
    EXPECT_NEAR(loss(DType::bf16), cross_entropy(logits(DType::f32), labels()).item(), 2e-2);
    EXPECT_TRUE(std::isnan(loss(DType::f16)));
}

TEST(BrokenLoss, ATrainingMeetsIt) {
    const auto loss = [](const char* precision, const char* form) {
        return test::TrainedSteps(test::changed(test::small_run("lenet", precision),
                                                {std::string("teach.loss=") + form}))
            .step()
            .loss;
    };
    EXPECT_TRUE(std::isnan(loss("amp-fp16", "where-mismatch")));
    EXPECT_TRUE(std::isfinite(loss("amp-bf16", "where-mismatch")));
    EXPECT_NEAR(loss("fp32", "where-mismatch"), loss("fp32", ""), 1e-4);
    EXPECT_NEAR(loss("fp32", "bce-probabilities"), std::log(2.0), 0.1)
        << "probabilities are about a half at first";
}

TEST(BrokenLoss, OtherTasksHaveNone) {
    const RunConfig config =
        test::changed(test::small_text_run("fp32"), {"teach.loss=where-mismatch"});
    const std::string why =
        message_of(ErrorCode::settings, [&] { test::TrainedSteps run(config); });
    EXPECT_THAT(why, HasSubstr("teach.loss"));
    EXPECT_THAT(why, HasSubstr("language-model"));
}

}  // namespace
}  // namespace engine
