#include "twin/gap_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ui {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(GapNoise, MeansReachBackOverTwentySteps) {
    std::vector<double> gaps(30);
    for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = static_cast<double>(i);
    const auto means = trailingMeans(gaps);
    EXPECT_EQ(means[0], 0);
    EXPECT_EQ(means[3], 1.5) << "of four steps";
    EXPECT_EQ(means[29], 19.5) << "of the steps 10 to 29";
    gaps = {nan, 4, nan, 2};
    EXPECT_TRUE(std::isnan(trailingMeans(gaps)[0]));
    EXPECT_EQ(trailingMeans(gaps)[3], 3) << "of what is finite";
}

/// Alternating +-1: variance 20/19 over 20 steps, so two standard errors are 2 sqrt(1/19).
TEST(GapNoise, OverStepsIsTheSpreadOfTheStepsThatAreAveraged) {
    std::vector<double> gaps(40);
    for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = i % 2 == 0 ? 1 : -1;
    const auto noise = noiseOverSteps(gaps);
    EXPECT_EQ(noise[0], 0) << "one value has no spread";
    EXPECT_NEAR(noise[39], 2 * std::sqrt(1.0 / 19), 1e-12);
}

/// Three seeds with constant gaps of 1, 2 and 3: s = 1, so the noise is 2 / sqrt(3).
TEST(GapNoise, OverSeedsIsTheSpreadOfTheirMeans) {
    const std::vector<std::vector<double>> gaps{
        std::vector<double>(25, 1.0), std::vector<double>(25, 2.0), std::vector<double>(22, 3.0)};
    const auto noise = noiseOverSeeds(gaps);
    ASSERT_EQ(noise.size(), 25U);
    EXPECT_NEAR(noise[0], 2 / std::sqrt(3.0), 1e-12);
    EXPECT_NEAR(noise[21], 2 / std::sqrt(3.0), 1e-12);
    EXPECT_NEAR(noise[22], 2 * std::sqrt(0.5) / std::sqrt(2.0), 1e-12) << "of two seeds";
    EXPECT_TRUE(std::isnan(noiseOverSeeds({gaps[0]})[24])) << "one seed has no spread";
}

struct SiblingPairs : testing::Test {
    void add(const char* preset, std::int64_t seed, const char* state = "done", double lr = 0.1) {
        engine::RunSummary run;
        run.run = std::to_string(runs.size() + 1);
        run.folder = run.run;
        run.state = state;
        run.config = config(preset, seed, lr);
        runs.push_back(run);
    }
    static engine::RunConfig config(const char* preset, std::int64_t seed, double lr = 0.1) {
        engine::RunConfig out;
        out.precision.preset = preset;
        out.seed = seed;
        out.optimizer.options["lr"] = lr;
        return out;
    }
    std::vector<SeedPair> found() const {
        return siblingPairs(runs, config("fp32", 1), config("amp-fp16", 1));
    }
    std::vector<engine::RunSummary> runs;
};

TEST_F(SiblingPairs, AreRunsOfTheSameSettingsWithAnotherSeedOfBothPrecisions) {
    add("fp32", 1);
    add("amp-fp16", 1);
    EXPECT_TRUE(found().empty()) << "the twin itself";
    add("fp32", 2);
    EXPECT_TRUE(found().empty()) << "one precision alone";
    add("amp-fp16", 2);
    add("fp32", 3, "done", 0.2);
    add("amp-fp16", 3, "done", 0.2);
    add("fp32", 4);
    add("amp-fp16", 4, "stopped");
    EXPECT_EQ(found(), (std::vector<SeedPair>{{2, "3", "4"}}));
    add("amp-fp16", 4);
    EXPECT_EQ(found().size(), 2U);
    EXPECT_EQ(siblingPairs(runs, config("fp32", 1), config("amp-fp16", 1), 1).size(), 1U);
}

/// FP32 with FP32: the second run is not the first.
TEST_F(SiblingPairs, OfOnePrecisionAreTwoRuns) {
    add("fp32", 2);
    const auto both = config("fp32", 1);
    EXPECT_TRUE(siblingPairs(runs, both, both).empty());
    add("fp32", 2);
    EXPECT_EQ(siblingPairs(runs, both, both), (std::vector<SeedPair>{{2, "1", "2"}}));
}

}  // namespace
}  // namespace ui
