#include "train/run/step_capsule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/device_support.h"
#include "train/run/saved_run.h"

namespace engine {
namespace {

using test::small_run;
using test::small_text_run;
using test::TrainerFixture;

StepCapsule capsule_of(const RunConfig& config, TrainerFixture& fixture, std::int64_t step) {
    StepCapsule out{.config = config,
                    .data = fixture.data.data->schema(),
                    .before = fixture.trainer.saved_state(),
                    .batches = {},
                    .planned = 100,
                    .rate_multiplier = 1};
    for (std::int64_t i = 0; i < config.accumulate; ++i)
        fixture.collator.make(out.batches.emplace_back(), 0, step * config.accumulate + i);
    return out;
}

/// `b` may lack tensors that are zero in `a`: before the first step there is no state. The learning
/// rate is computed in each step, so its saved value does not matter.
void expect_same_or_zero(const TensorMap& a, const TensorMap& b) {
    for (const auto& [name, value] : a) {
        if (name == "groups.lr") continue;
        const std::vector<double> values = value.values();
        const auto found = b.find(name);
        EXPECT_EQ(values,
                  found != b.end() ? found->second.values() : std::vector<double>(values.size(), 0))
            << name;
    }
    for (const auto& entry : b) EXPECT_TRUE(a.contains(entry.first)) << entry.first;
}

void expect_same_state(const TrainingState& a, const TrainingState& b) {
    ASSERT_EQ(a.weights.size(), b.weights.size());
    for (const auto& [name, value] : a.weights)
        EXPECT_EQ(value.values(), b.weights.at(name).values()) << name;
    expect_same_or_zero(a.optimizer, b.optimizer);
    expect_same_or_zero(a.carried, b.carried);
    EXPECT_EQ(a.scaler, b.scaler);
    EXPECT_EQ(a.counts, b.counts);
}

class Capsules : public testing::TestWithParam<std::string> {
protected:
    static RunConfig config() {
        RunConfig config =
            GetParam() == "text" ? small_text_run("amp-fp16") : small_run("lenet", GetParam());
        if (GetParam() == "text") config.model.options["dropout"] = 0.5;
        config.scaler.init_scale = 1 << 24;  // the first steps are skipped
        config.accumulate = 2;
        return config;
    }
};

/// Each step of a run, computed again from its capsule, has the bits of the run's own step.
TEST_P(Capsules, AStepComputedAgainHasTheSameBits) {
    const RunConfig config = this->config();
    TrainerFixture fixture(config, default_device());
    for (std::int64_t step = 0; step < 6; ++step) {
        const StepCapsule capsule = capsule_of(config, fixture, step);
        EXPECT_EQ(capsule.step(), step + 1);
        const CompletedStep own = fixture.step(step);
        const TrainingState after = fixture.trainer.saved_state();
        CapsuleStep again(capsule);
        for (int time = 0; time < 2; ++time) {  // also after the state was restored
            const CompletedStep found = again.run();
            EXPECT_EQ(found.row.loss, own.row.loss);
            EXPECT_EQ(found.row.found_inf, own.row.found_inf);
            EXPECT_EQ(found.row.step, step + 1);
            expect_same_state(again.trainer().saved_state(), after);
            again.rewind();
            expect_same_state(again.trainer().saved_state(), capsule.before);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Runs, Capsules, testing::Values("fp32", "amp-fp16", "o2-fp16", "text"),
                         [](const auto& each) {
                             std::string name = each.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(StepCapsule, InAnotherPrecisionItStartsFromTheMasters) {
    const RunConfig config = small_run("mlp", "o2-fp16");
    TrainerFixture fixture(config, default_device());
    for (std::int64_t step = 0; step < 3; ++step) (void)fixture.step(step);
    const StepCapsule capsule = capsule_of(config, fixture, 3);
    RunConfig fp32 = config;
    fp32.precision.preset = "fp32";
    CapsuleStep shadow(capsule, fp32);
    for (const Parameter& parameter : shadow.trainer().model().parameters()) {
        EXPECT_EQ(parameter.tensor.dtype(), DType::f32);
        EXPECT_EQ(parameter.tensor.values(),
                  capsule.before.optimizer.at(parameter.name + ".master").values());
    }
    const CompletedStep step = shadow.run();
    EXPECT_EQ(step.row.loss_scale, 1);
    EXPECT_EQ(step.row.found_inf, 0);
}

/// If the capsule has no loss scale, the scale begins at that of the settings, and is reset to it.
TEST(StepCapsule, AScalerThatTheRunDidNotHaveBeginsAnewEachTime) {
    const RunConfig config = small_run("mlp", "fp32");
    TrainerFixture fixture(config, default_device());
    const StepCapsule capsule = capsule_of(config, fixture, 0);
    RunConfig amp = config;
    amp.precision.preset = "amp-fp16";
    amp.scaler.init_scale = 0x1p60;
    CapsuleStep step(capsule, amp);
    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(step.run().row.loss_scale, 0x1p60F);
        EXPECT_LT(step.trainer().saved_state().scaler.at("scale"), 0x1p60);
        step.rewind();
    }
}

}  // namespace
}  // namespace engine
