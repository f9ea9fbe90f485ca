#include "train/step/state_before.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/device_support.h"
#include "tensor/restore.h"

namespace engine {
namespace {

using test::small_run;
using test::small_text_run;
using test::TrainerFixture;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

void expect_same(const TensorMap& a, const TensorMap& b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, tensor] : a) {
        ASSERT_TRUE(b.contains(name)) << name;
        EXPECT_EQ(tensor.dtype(), b.at(name).dtype()) << name;
        EXPECT_EQ(tensor.values(), b.at(name).values()) << name;
    }
}

class StateBeforeOf : public testing::TestWithParam<std::string> {
protected:
    static RunConfig config() {
        RunConfig config =
            GetParam() == "text" ? small_text_run("amp-fp16") : small_run("lenet", GetParam());
        config.optimizer.kind = "adam";
        config.scaler.init_scale = 0x1p20;  // skips at the start
        return completed(config);
    }
};

TEST_P(StateBeforeOf, IsTheSavedStateOfTheStepBefore) {
    TrainerFixture fixture(config(), default_device());
    fixture.trainer.keep_states(true);
    for (std::int64_t step = 0; step < 12; ++step) {
        const TrainingState before = fixture.trainer.saved_state();
        (void)fixture.step(step);
        const TrainingState kept = fixture.trainer.kept_state();
        SCOPED_TRACE(step);
        expect_same(before.weights, kept.weights);
        expect_same(before.optimizer, kept.optimizer);
        expect_same(before.carried, kept.carried);
        EXPECT_EQ(before.scaler, kept.scaler);
        EXPECT_EQ(before.counts, kept.counts);
    }
    EXPECT_GT(fixture.trainer.updates(), 0) << "no step was applied";
}

INSTANTIATE_TEST_SUITE_P(Kinds, StateBeforeOf,
                         testing::Values("fp32", "amp-fp16", "o2-fp16", "pure-fp16", "text"),
                         [](const auto& tested) {
                             std::string name = tested.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

void put_nan(const Tensor& tensor) {
    fill({{"x", tensor}}, {{"x", Tensor::full(tensor.shape(), nan, DType::f32, Device{})}});
}

TEST(StateBefore, CountsNeitherInTheRunsMemoryNorInItsPeak) {
    const auto bytes = [](bool keep) {
        TrainerFixture fixture(small_run("lenet", "amp-fp16"), default_device());
        fixture.trainer.keep_states(keep);
        for (std::int64_t step = 0; step < 3; ++step) (void)fixture.step(step);
        return std::pair(fixture.trainer.accounting()->total(),
                         fixture.trainer.accounting()->peak());
    };
    EXPECT_EQ(bytes(true), bytes(false));
}

TEST(StateBefore, KnowsWhetherTheWeightsAreFinite) {
    TrainerFixture fixture(small_run("lenet", "fp32"), default_device());
    fixture.trainer.keep_states(true);
    EXPECT_TRUE(fixture.trainer.state_before()->is_finite());
    (void)fixture.step(0);
    EXPECT_TRUE(fixture.trainer.state_before()->weights_are_finite());
    put_nan(fixture.trainer.model().parameters().back().tensor);
    (void)fixture.step(1);
    EXPECT_FALSE(fixture.trainer.state_before()->weights_are_finite());
    EXPECT_FALSE(fixture.trainer.state_before()->is_finite());
}

TEST(StateBefore, KnowsOfDamageThatWasThereWhenItBegan) {
    TrainerFixture fixture(small_run("lenet", "fp32"), default_device());
    put_nan(fixture.trainer.model().parameters().front().tensor);
    fixture.trainer.keep_states(true);
    EXPECT_FALSE(fixture.trainer.state_before()->weights_are_finite());
}

TEST(StateBefore, NothingIsKeptUnlessItIsAskedFor) {
    TrainerFixture fixture(small_run("lenet", "fp32"), default_device());
    (void)fixture.step(0);
    EXPECT_EQ(fixture.trainer.state_before(), nullptr);
    fixture.trainer.keep_states(true);
    EXPECT_NE(fixture.trainer.state_before(), nullptr);
    fixture.trainer.keep_states(false);
    EXPECT_EQ(fixture.trainer.state_before(), nullptr);
}

}  // namespace
}  // namespace engine
