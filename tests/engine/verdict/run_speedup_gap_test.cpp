// Generated step times with a known ratio: differences are detected, and noise is not reported as
// one.
#include "verdict/run_speedup.h"

#include <gtest/gtest.h>

#include <cmath>

#include "made_record.h"

namespace engine {
namespace {

using StepTimes = std::function<double(std::int64_t step)>;

/// Multiplicative noise with this standard deviation, drawn in the order of the steps.
StepTimes noisy(double ms, double deviation, unsigned seed) {
    return [ms, noise = jittered(0, deviation, seed)](std::int64_t step) mutable {
        return ms * std::exp(noise(step));
    };
}

MadeRecord timed(std::int64_t steps, const StepTimes& times) {
    return MadeRecord(
        steps, [](std::int64_t) { return 1.0; },
        [&](StepRecord& row) { row.step_ms = static_cast<float>(times(row.step)); });
}

SpeedGap gap_of(const MadeRecord& baseline, const MadeRecord& other) {
    const auto both = speeds({baseline.reader(), other.reader()});
    RunFigures a{.precision = "fp32", .record = baseline.reader(), .tests = {}, .speed = both[0]};
    RunFigures b{.precision = "tf32", .record = other.reader(), .tests = {}, .speed = both[1]};
    a.turns = b.turns = "together";
    return speed_gap(a, b);
}

TEST(SpeedGap, FindsATrueDifferenceUnderHeavyNoise) {
    int found = 0;
    for (unsigned seed = 0; seed < 50; ++seed) {
        const MadeRecord baseline = timed(500, noisy(6, 0.3, 2 * seed));
        const MadeRecord other = timed(500, noisy(5, 0.3, 2 * seed + 1));
        const SpeedGap gap = gap_of(baseline, other);
        EXPECT_NEAR(gap.ratio, 1.2, 0.15);
        EXPECT_EQ(gap.blocks, 16);
        found += gap.low > 1 ? 1 : 0;
    }
    EXPECT_GE(found, 48);
}

TEST(SpeedGap, TakesNoiseForADifferenceInFewerThanOneOfTwentyPairs) {
    int claimed = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        const MadeRecord baseline = timed(130, noisy(5, 0.3, 2 * seed));
        const MadeRecord other = timed(130, noisy(5, 0.3, 2 * seed + 1));
        claimed += gap_of(baseline, other).clear() ? 1 : 0;
    }
    EXPECT_LE(claimed, 10);
}

/// Half of the steps take up to five times as long, the same ones in both runs.
TEST(SpeedGap, ComparesStepsThatTheSameDisturbanceHit) {
    const auto slowed = [](double ms) {
        return [ms](std::int64_t step) { return ms * (step / 40 % 2 == 0 ? 1.0 : 5.0); };
    };
    const SpeedGap gap = gap_of(timed(500, slowed(6)), timed(500, slowed(5)));
    EXPECT_NEAR(gap.low, 1.2, 1e-6);
    EXPECT_NEAR(gap.high, 1.2, 1e-6);
}

/// The run that reads a batch first waits for it. The runs take turns at that.
TEST(SpeedGap, CancelsWhatTheFirstOfARoundPays) {
    const auto first_in = [](std::int64_t parity) {
        return [=](std::int64_t step) { return step % 2 == parity ? 0.075 : 0.047; };
    };
    const SpeedGap gap = gap_of(timed(130, first_in(0)), timed(130, first_in(1)));
    EXPECT_NEAR(gap.low, 1, 1e-6);
    EXPECT_NEAR(gap.high, 1, 1e-6);
}

/// A run of 22 steps has 12 measured ones: two in each of six blocks.
TEST(SpeedGap, GivesNoIntervalForFewerThanSixBlocks) {
    for (const std::int64_t steps : {0, 1, 3, 16, 21, 22, 24}) {
        const SpeedGap gap = gap_of(timed(steps, noisy(6, 0, 1)), timed(steps, noisy(3, 0, 2)));
        EXPECT_EQ(gap.has_interval(), steps >= 22) << steps;
        EXPECT_EQ(gap.clear(), steps >= 22) << steps;
        EXPECT_EQ(std::isnan(gap.ratio), steps < 3) << steps;
    }
}

TEST(SpeedGap, LeavesOutStepsThatWereNotTimed) {
    const auto untimed = [](std::int64_t step) { return step % 3 == 0 ? std::nan("") : 4.0; };
    const SpeedGap gap = gap_of(timed(100, untimed), timed(100, noisy(2, 0, 1)));
    EXPECT_EQ(gap.low, 2);
    EXPECT_EQ(gap.high, 2);
}

/// Two runs that were resumed one after the other, or that trained on their own.
TEST(SpeedGap, ComparesOnlyStepsInWhichTheRunsTookTurns) {
    const MadeRecord baseline = timed(400, noisy(6, 0.05, 1)), other = timed(400, noisy(3, 0.05, 2));
    const auto both = speeds({baseline.reader(), other.reader()});
    RunFigures a{.precision = "fp32", .record = baseline.reader(), .tests = {}, .speed = both[0]};
    RunFigures b{.precision = "tf32", .record = other.reader(), .tests = {}, .speed = both[1]};
    EXPECT_EQ(speed_gap(a, b).blocks, 0) << "nothing says that they did";
    a.turns = "first";
    b.turns = "second";
    EXPECT_EQ(speed_gap(a, b).blocks, 0);
    b.turns = "first";
    EXPECT_EQ(speed_gap(a, b).blocks, 16);
    b.in_turns_from = 395;
    EXPECT_EQ(speed_gap(a, b).blocks, 3) << "six steps since they were resumed together";
}

/// Other programs slow down nine of ten steps of one run alone, as they do to one that computes on
/// more threads.
TEST(SpeedGap, ClaimsNoMoreThanTheFastestStepsShow) {
    const auto loaded = [](std::int64_t step) { return step % 10 == 0 ? 2.2 : 6.0; };
    const auto quiet = [](std::int64_t) { return 2.0; };
    const SpeedGap gap = gap_of(timed(500, loaded), timed(500, quiet));
    EXPECT_GT(gap.low, 2.5);
    EXPECT_TRUE(gap.clear());
    EXPECT_FALSE(gap.narrow());
    EXPECT_NEAR(gap.claim(), 1.1, 1e-6);
    const auto equal = [](std::int64_t step) { return step % 8 == 0 ? 2.0 : 6.0; };
    EXPECT_FALSE(gap_of(timed(500, equal), timed(500, quiet)).clear());
}

}  // namespace
}  // namespace engine
