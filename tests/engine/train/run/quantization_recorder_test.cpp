#include "train/run/quantization_recorder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

using Kind = ScaleAlarm::Kind;

const QuantizationSlot gradient{"fc1", "g", "columns", 8, 8, "e4m3", "emulated", ""};
const QuantizationSlot weight{"fc1", "w", "columns", 8, 8, "e4m3", "emulated", ""};

const Recipe fp8_casts;
const Recipe delayed_casts{.rule = ScaleBasis::delayed};
const Recipe fp4_casts{.rule = ScaleBasis::mx, .forward = kernels::fp4_e2m1_layout, .block = 32};

QuantizationRow good(std::int64_t step) {
    QuantizationRow out;
    out.step = step;
    out.amax = 1;
    out.scale = out.current_scale = 448;
    out.elements = out.nonzero = 10'000;
    out.signal2 = 100;
    return out;
}

Kind kind_of(const std::optional<ScaleAlarm>& alarm) {
    EXPECT_TRUE(alarm.has_value());
    return alarm ? alarm->kind : Kind::stuck;
}

TEST(ScaleWatchdog, SaysWhatIsBeyondItsLimit) {
    ScaleWatchdog tensors(fp8_casts);
    EXPECT_FALSE(tensors.see(gradient, good(1)).has_value());
    QuantizationRow row = good(2);
    row.saturated = 10;  // 0.1 %
    row.zeroed = 2'500;  // 25 %
    EXPECT_FALSE(tensors.see(gradient, row).has_value());
    row.zeroed = 2'501;
    EXPECT_EQ(kind_of(tensors.see(gradient, row)), Kind::zeroed);
    EXPECT_EQ(kind_of(tensors.see(weight, row)), Kind::zeroed);

    const auto first = [](const Recipe& recipe, const QuantizationSlot& slot,
                          const QuantizationRow& of) {
        return ScaleWatchdog(recipe).see(slot, of);
    };
    row.zeroed = 501;
    EXPECT_EQ(kind_of(first(fp8_casts, weight, row)), Kind::zeroed);
    EXPECT_FALSE(first(fp4_casts, weight, row).has_value());
    row.zeroed = 1'501;
    EXPECT_EQ(kind_of(first(fp4_casts, weight, row)), Kind::zeroed);
    row.saturated = 11;
    EXPECT_EQ(kind_of(first(fp4_casts, weight, row)), Kind::saturated);
    row.nonfinite = 1;
    EXPECT_EQ(kind_of(first(fp4_casts, weight, row)), Kind::nonfinite);
    QuantizationRow noisy = good(1);
    noisy.noise2 = 33;
    EXPECT_FALSE(first(fp4_casts, gradient, noisy).has_value());
    noisy.noise2 = 34;  // sqrt(100 / 34) < sqrt(3)
    const auto alarm = first(fp4_casts, gradient, noisy);
    EXPECT_EQ(kind_of(alarm), Kind::noise);
    EXPECT_NE(alarm->hint.str().find("fc1.g"), std::string::npos);
    EXPECT_FALSE(first(fp4_casts, weight, noisy).has_value());
}

// The scale of a block of nvfp4 is rounded, so rounding at random meets values just above 6.
TEST(ScaleWatchdog, LetsTheLargestGradientsOfABlockSaturateInNvfp4) {
    Recipe recipe{.rule = ScaleBasis::nvfp4, .block = 16, .random_gradients = true};
    QuantizationRow row = good(1);
    row.saturated = 350;  // of 10,000
    EXPECT_FALSE(ScaleWatchdog(recipe).see(gradient, row).has_value());
    EXPECT_EQ(kind_of(ScaleWatchdog(recipe).see(weight, row)), Kind::saturated);
    recipe.random_gradients = false;
    EXPECT_EQ(kind_of(ScaleWatchdog(recipe).see(gradient, row)), Kind::saturated);
    row = good(1);
    row.zeroed = 5'000;
    const auto hint = [&](const Recipe& of) {
        return ScaleWatchdog(of).see(gradient, row)->hint.str();
    };
    EXPECT_NE(hint(recipe).find("precision.force"), std::string::npos) << "it has blocks";
    EXPECT_NE(hint(fp8_casts).find("a scale for each block"), std::string::npos);
}

TEST(ScaleWatchdog, RepeatsNothingWithinAHundredSteps) {
    ScaleWatchdog watchdog(fp8_casts);
    std::vector<std::int64_t> steps;
    for (std::int64_t step = 10; step <= 250; step += 10) {
        QuantizationRow row = good(step);
        row.nonfinite = 1;
        if (watchdog.see(gradient, row)) steps.push_back(step);
    }
    EXPECT_EQ(steps, (std::vector<std::int64_t>{10, 110, 210}));
    QuantizationRow row = good(250);
    row.nonfinite = 1;
    EXPECT_TRUE(watchdog.see(weight, row).has_value()) << "another operand";
}

TEST(ScaleWatchdog, DelayedScaleIsStuckAfterFiftySteps) {
    const auto first_alarm = [](const Recipe& recipe, float scale, std::int64_t good_at) {
        ScaleWatchdog watchdog(recipe);
        for (std::int64_t step = 10; step <= 200; step += 10) {
            QuantizationRow row = good(step);
            if (step != good_at) row.scale = scale;
            if (const auto alarm = watchdog.see(gradient, row)) {
                EXPECT_EQ(alarm->kind, Kind::stuck);
                return step;
            }
        }
        return std::int64_t{0};
    };
    EXPECT_EQ(first_alarm(delayed_casts, 448.f / 4.1f, 0), 60);
    EXPECT_EQ(first_alarm(delayed_casts, 448.f * 4.1f, 0), 60);
    EXPECT_EQ(first_alarm(delayed_casts, 448.f / 4.1f, 50), 110) << "begins again";
    EXPECT_EQ(first_alarm(delayed_casts, 448.f / 3.9f, 0), 0);
    EXPECT_EQ(first_alarm(fp8_casts, 448.f / 4.1f, 0), 0) << "follows no earlier step";
}

}  // namespace
}  // namespace engine
