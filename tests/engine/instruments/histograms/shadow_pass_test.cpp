#include <gtest/gtest.h>

#include "engine/instruments/microscope.h"
#include "instruments/histograms/histogram_sampler.h"
#include "instruments/replay/step_variant.h"
#include "seen_step.h"
#include "support/device_support.h"

namespace engine {
namespace {

using test::by_module;
using test::SeenStep;
using test::small_run;
using test::small_text_run;
using test::TrainerFixture;

StepCapsule capsule_of(const RunConfig& config, TrainerFixture& fixture, std::int64_t index) {
    StepCapsule out{.config = config,
                    .data = fixture.data.data->schema(),
                    .before = fixture.trainer.saved_state(),
                    .batches = {},
                    .planned = 100,
                    .rate_multiplier = 1};
    // The device that the fixture uses.
    out.config.device = default_device().kind == Device::Kind::cuda ? "cuda" : "cpu";
    fixture.collator.make(out.batches.emplace_back(), 0, index);
    return out;
}

CapturedStep captured(const StepCapsule& capsule) {
    return CapturedStep(std::make_shared<const StepCapsule>(capsule));
}

/// Has dropout, whose masks must be those of the run.
RunConfig text_run(const std::string& precision) {
    RunConfig config = small_text_run(precision);
    config.model.options["dropout"] = 0.5;
    return config;
}

std::shared_ptr<SeenStep> seen_in(Trainer& trainer, const std::function<void()>& step) {
    const auto seen = std::make_shared<SeenStep>();
    trainer.attach(seen);
    step();
    trainer.detach(*seen);
    return seen;
}

/// The weights, optimizer state and carried state of an FP32 run, bit for bit.
TEST(ShadowPass, HasTheGradientsOfAnFp32RunOfTheSameStep) {
    for (const RunConfig& config : {small_run("lenet", "fp32"), text_run("fp32")}) {
        TrainerFixture run(config, default_device());
        for (std::int64_t index = 0; index < 4; ++index) {
            const StepCapsule capsule = capsule_of(config, run, index);
            const auto own = seen_in(run.trainer, [&] { run.step(index); });
            CapsuleStep shadow(capsule, fp32_settings(capsule.config));
            const auto again = seen_in(shadow.trainer(), [&] { shadow.run(); });
            EXPECT_EQ(again->gradients, own->gradients);
            EXPECT_EQ(again->activations, own->activations);
            const HistogramSample sample = shadow_histograms(captured(capsule));
            EXPECT_TRUE(sample.shadow);
            EXPECT_EQ(sample.step, index + 1);
            EXPECT_EQ(sample.loss_scale, 1);
            for (const auto& [layer, histogram] : by_module(own->gradients))
                EXPECT_EQ(sample.find(layer, HistogramKind::gradients)->values, histogram);
        }
    }
}

/// An FP32 trainer that starts from the weights of an AMP run has the gradients of the run's shadow
/// pass.
TEST(ShadowPass, OfAnAmpRunHasTheGradientsOfItsWeightsInFp32) {
    const RunConfig config = text_run("amp-fp16");
    TrainerFixture run(config, default_device());
    for (std::int64_t index = 0; index < 3; ++index) run.step(index);
    const StepCapsule capsule = capsule_of(config, run, 3);
    TrainerFixture other(fp32_settings(config), default_device());
    other.trainer.load_state(capsule.before, {.same_precision = false, .same_optimizer = true});
    const auto wanted = seen_in(other.trainer, [&] { other.step(3); });
    const HistogramSample sample = shadow_histograms(captured(capsule));
    for (const auto& [layer, histogram] : by_module(wanted->gradients))
        EXPECT_EQ(sample.find(layer, HistogramKind::gradients)->values, histogram);
    EXPECT_FALSE(sample.flushed(HistogramKind::gradients));
}

TEST(ShadowPass, LeavesTheTrainingAsItWas) {
    for (const char* precision : {"amp-fp16", "o2-fp16"}) {
        const RunConfig config = text_run(precision);
        TrainerFixture plain(config, default_device()), shadowed(config, default_device());
        for (std::int64_t index = 0; index < 5; ++index) {
            (void)shadow_histograms(captured(capsule_of(config, shadowed, index)));
            EXPECT_EQ(plain.step(index).row.loss, shadowed.step(index).row.loss);
        }
        const TrainingState a = plain.trainer.saved_state(), b = shadowed.trainer.saved_state();
        for (const auto& [name, value] : a.weights)
            EXPECT_EQ(value.values(), b.weights.at(name).values()) << name;
        for (const auto& [name, value] : a.optimizer)
            EXPECT_EQ(value.values(), b.optimizer.at(name).values()) << name;
        for (const auto& [name, value] : a.carried)
            EXPECT_EQ(value.values(), b.carried.at(name).values()) << name;
        EXPECT_EQ(a.scaler, b.scaler);
    }
}

}  // namespace
}  // namespace engine
