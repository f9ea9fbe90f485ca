#include "instruments/histograms/sample_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace engine {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

/// The steps that an automatic plan samples of a run whose steps take `step_time`.
std::vector<std::int64_t> sampled(std::int64_t steps, std::int64_t planned, microseconds step_time,
                                  std::int64_t kept = 0) {
    steady_clock::time_point now;
    SamplePlan plan = SamplePlan::automatic(planned, kept, [&now] { return now; });
    std::vector<std::int64_t> out;
    for (std::int64_t step = 1; step <= steps; ++step) {
        now += step_time;
        if (!plan.wants(step)) continue;
        plan.sampled(step);
        out.push_back(step);
    }
    return out;
}

constexpr microseconds slow = std::chrono::seconds(1);

TEST(SamplePlan, OfAnIntervalTakesItsMultiples) {
    const SamplePlan plan(5);
    EXPECT_TRUE(plan.wants(10));
    EXPECT_FALSE(plan.wants(11));
    EXPECT_FALSE(SamplePlan(0).wants(10));
}

TEST(SamplePlan, AutomaticTakesEveryFiftiethStepAndTheLastPlannedOne) {
    EXPECT_EQ(sampled(158, 158, slow), (std::vector<std::int64_t>{50, 100, 150, 158}));
    EXPECT_EQ(sampled(32, 32, slow), (std::vector<std::int64_t>{32}));
    EXPECT_EQ(sampled(120, 100'000, slow), (std::vector<std::int64_t>{50, 100}));
}

TEST(SamplePlan, AutomaticTakesAtMostFourASecond) {
    // A million steps of 10 us take 10 seconds.
    const auto steps = sampled(1'000'000, 1'000'000, microseconds(10));
    EXPECT_GE(steps.size(), 38U);
    EXPECT_LE(steps.size(), 41U);  // the last step comes in addition
    for (std::size_t i = 1; i + 1 < steps.size(); ++i)
        EXPECT_GE((steps[i] - steps[i - 1]) * 10, 250'000) << steps[i];
}

TEST(SamplePlan, AutomaticKeepsAtMostTwoThousandSpreadOverTheRun) {
    const auto steps = sampled(2'000'000, 2'000'000, slow);
    EXPECT_LE(steps.size(), 2000U);
    EXPECT_GE(steps.size(), 1900U);
    EXPECT_EQ(steps[999], 50'000);  // the first half at 50 steps each
    EXPECT_EQ(steps.back(), 2'000'000);
    for (std::size_t i = 1; i < steps.size(); ++i)
        EXPECT_LE(steps[i] - steps[i - 1], 2'100) << steps[i];
}

TEST(SamplePlan, AutomaticCountsWhatAnEarlierPartOfTheRunKept) {
    EXPECT_EQ(sampled(1000, 1000, slow, 2000).size(), 0U);
    const auto steps = sampled(100'000, 100'000, slow, 1990);
    EXPECT_LE(steps.size(), 10U);
    EXPECT_EQ(steps.back(), 100'000);
}

}  // namespace
}  // namespace engine
