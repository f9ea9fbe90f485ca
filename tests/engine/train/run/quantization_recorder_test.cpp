#include "train/run/quantization_recorder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

using Kind = ScaleAlarm::Kind;

const QuantizationSlot gradient{"fc1", "g", "columns", 8, 8, "e4m3", "emulated", ""};
const QuantizationSlot weight{"fc1", "w", "columns", 8, 8, "e4m3", "emulated", ""};

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
    ScaleWatchdog fp8(false, false);
    EXPECT_FALSE(fp8.see(gradient, good(1)).has_value());
    QuantizationRow row = good(2);
    row.saturated = 10;  // 0.1 %
    row.zeroed = 2'500;  // 25 %
    EXPECT_FALSE(fp8.see(gradient, row).has_value());
    row.zeroed = 2'501;
    EXPECT_EQ(kind_of(fp8.see(gradient, row)), Kind::zeroed);
    EXPECT_EQ(kind_of(fp8.see(weight, row)), Kind::zeroed);

    const auto first = [](bool fp4, const QuantizationSlot& slot, const QuantizationRow& of) {
        return ScaleWatchdog(fp4, false).see(slot, of);
    };
    row.zeroed = 501;
    EXPECT_EQ(kind_of(first(false, weight, row)), Kind::zeroed);
    EXPECT_FALSE(first(true, weight, row).has_value());
    row.zeroed = 1'501;
    EXPECT_EQ(kind_of(first(true, weight, row)), Kind::zeroed);
    row.saturated = 11;
    EXPECT_EQ(kind_of(first(true, weight, row)), Kind::saturated);
    row.nonfinite = 1;
    EXPECT_EQ(kind_of(first(true, weight, row)), Kind::nonfinite);
    QuantizationRow noisy = good(1);
    noisy.noise2 = 33;
    EXPECT_FALSE(first(true, gradient, noisy).has_value());
    noisy.noise2 = 34;  // sqrt(100 / 34) < sqrt(3)
    const auto alarm = first(true, gradient, noisy);
    EXPECT_EQ(kind_of(alarm), Kind::noise);
    EXPECT_NE(alarm->hint.str().find("fc1.g"), std::string::npos);
    EXPECT_FALSE(first(true, weight, noisy).has_value());
}

TEST(ScaleWatchdog, RepeatsNothingWithinAHundredSteps) {
    ScaleWatchdog watchdog(false, false);
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
    const auto first_alarm = [](bool delayed, float scale, std::int64_t good_at) {
        ScaleWatchdog watchdog(false, delayed);
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
    EXPECT_EQ(first_alarm(true, 448.f / 4.1f, 0), 60);
    EXPECT_EQ(first_alarm(true, 448.f * 4.1f, 0), 60);
    EXPECT_EQ(first_alarm(true, 448.f / 4.1f, 50), 110) << "begins again";
    EXPECT_EQ(first_alarm(true, 448.f / 3.9f, 0), 0);
    EXPECT_EQ(first_alarm(false, 448.f / 4.1f, 0), 0) << "follows no earlier step";
}

}  // namespace
}  // namespace engine
