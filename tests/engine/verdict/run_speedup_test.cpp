// Given times of the parts of a step, whose cause is known.
#include "verdict/run_speedup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "made_record.h"

namespace engine {
namespace {

using testing::HasSubstr;

struct Parts {
    float data, forward, backward, optimizer;
};

MadeRecord record_with(const Parts& parts, std::int64_t steps = 200) {
    return MadeRecord(
        steps, [](std::int64_t) { return 1.0; },
        [&](StepRecord& row) {
            row.data_ms = parts.data;
            row.forward_ms = parts.forward;
            row.backward_ms = parts.backward;
            row.optimizer_ms = parts.optimizer;
            row.step_ms = parts.data + parts.forward + parts.backward + parts.optimizer;
        });
}

/// Compares two records of a run on one device.
RunSpeedup speedup(const MadeRecord& fp32, const MadeRecord& mixed,
                  const std::string& precision = "amp-fp16", const std::string& baseline = "fp32") {
    const auto both = speeds({fp32.reader(), mixed.reader()});
    RunFigures a{.precision = baseline, .record = fp32.reader(), .tests = {}, .speed = both[0]};
    RunFigures b{.precision = precision, .record = mixed.reader(), .tests = {}, .speed = both[1]};
    a.turns = b.turns = "together";
    return run_speedup(a, b);
}

TEST(RunSpeedup, SaysWhatAFasterStepSaves) {
    const RunSpeedup found = speedup(record_with({0, 4, 8, 1}), record_with({0, 2, 4, 1}));
    EXPECT_EQ(
        found.sentence.str(),
        "AMP FP16 pays off: forward and backward pass take 6.00 ms instead of 12.0 ms, and the "
        "whole step 7.00 ms instead of 13.0 ms.");
    EXPECT_TRUE(found.explained);
    EXPECT_EQ(found.evidence.str(),
              "A step in ms, against FP32: data 0 and 0, forward 2.00 and 4.00, backward 4.00 and "
              "8.00, optimizer 1.00 and 1.00.");
}

TEST(RunSpeedup, FindsTheWaitForData) {
    const RunSpeedup found = speedup(record_with({12, 4, 8, 1}), record_with({18, 2, 4, 1}));
    EXPECT_EQ(
        found.sentence.str(),
        "AMP FP16 does not pay off: 72 % of its step is spent waiting for data, which no "
        "precision makes faster.");
    EXPECT_TRUE(found.explained);
}

TEST(RunSpeedup, FindsAnOptimizerThatTakesLongerThanThePasses) {
    const RunSpeedup found =
        speedup(record_with({0, 1, 1, 8}), record_with({0, 1, 1, 8}), "amp-bf16");
    EXPECT_THAT(found.sentence.str(), HasSubstr("AMP BF16 does not pay off"));
    EXPECT_THAT(found.sentence.str(), HasSubstr("the optimizer is 80 % of the step"));
    EXPECT_TRUE(found.explained);
}

TEST(RunSpeedup, LeavesTheReasonOfSlowPassesToAMeasurement) {
    const RunSpeedup found = speedup(record_with({0, 4, 8, 1}), record_with({0, 5, 9, 1}));
    EXPECT_EQ(
        found.sentence.str(),
        "AMP FP16 does not pay off: forward and backward pass take 14.0 ms instead of 12.0 ms.");
    EXPECT_FALSE(found.explained);
}

TEST(RunSpeedup, SaysNoMoreThanARecordWithoutPartsBears) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    const auto whole = [none](float ms) {
        return MadeRecord(
            200, [](std::int64_t) { return 1.0; },
            [=](StepRecord& row) {
                row.step_ms = ms;
                row.forward_ms = row.backward_ms = row.optimizer_ms = none;
            });
    };
    const RunSpeedup faster = speedup(whole(4), whole(2));
    EXPECT_EQ(faster.sentence.str(), "AMP FP16 pays off: a step takes 2.00 ms instead of 4.00 ms.");
    EXPECT_TRUE(faster.evidence.empty());
    const RunSpeedup slower = speedup(whole(2), whole(4));
    EXPECT_EQ(slower.sentence.str(), "AMP FP16 does not pay off: it is no faster than FP32.");
    EXPECT_FALSE(slower.explained);
}

TEST(RunSpeedup, IsUndecidedWhereEqualSpeedIsWithinTheInterval) {
    const auto noisy = [](double ms, unsigned seed) {
        return MadeRecord(
            60, [](std::int64_t) { return 1.0; },
            [ms, noise = jittered(0, 0.6, seed)](StepRecord& row) mutable {
                row.step_ms = static_cast<float>(ms * std::exp(noise(row.step)));
            });
    };
    int undecided = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        const RunSpeedup found = speedup(noisy(2.3, 2 * seed), noisy(2, 2 * seed + 1));
        const bool early = found.sentence.str().starts_with("Too early to say whether AMP FP16");
        if (!early) continue;
        ++undecided;
        EXPECT_TRUE(found.explained);
        EXPECT_THAT(found.sentence.str(), HasSubstr("(95 % interval)"));
    }
    EXPECT_GT(undecided, 0);
}

TEST(RunSpeedup, IsOfFp32BesideSixteenBitsAlone) {
    const MadeRecord a = record_with({0, 4, 8, 1}), b = record_with({0, 2, 4, 1});
    EXPECT_FALSE(speedup(a, b, "pure-fp16").sentence.empty());
    EXPECT_TRUE(speedup(a, b, "tf32").sentence.empty());
    EXPECT_TRUE(speedup(a, b, "fp32").sentence.empty());
    EXPECT_TRUE(speedup(a, b, "amp-fp16", "amp-bf16").sentence.empty());
    EXPECT_TRUE(
        speedup(record_with({0, 4, 8, 1}, 8), record_with({0, 2, 4, 1}, 8)).sentence.empty())
        << "too few steps";
}

}  // namespace
}  // namespace engine
