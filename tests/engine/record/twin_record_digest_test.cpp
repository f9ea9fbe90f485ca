#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "engine/record/twin.h"

namespace engine {
namespace {

/// Adds a step with two layers.
void step(TwinDigest& digest, std::int64_t number, float first, float second, bool resynced = false,
          bool skipped = false) {
    digest.add({number, 0, first, first * 10, skipped, resynced});
    digest.add({number, 1, second, second * 10, skipped, resynced});
}

TEST(TwinDigest, ALayerHasDivergedAfterFiveStepsAboveTheLimit) {
    TwinDigest digest({"a", "b"});
    for (std::int64_t i = 1; i <= 4; ++i) step(digest, i, 0.2F, 0.01F);
    EXPECT_FALSE(digest.first_to_diverge());
    step(digest, 5, 0.05F, 0.2F);  // one step below restarts the count
    for (std::int64_t i = 6; i <= 10; ++i) step(digest, i, 0.2F, 0.2F);
    EXPECT_EQ(digest.layers()[0].diverged, 6);
    EXPECT_EQ(digest.layers()[1].diverged, 5);
    EXPECT_EQ(digest.first_to_diverge(), 1U);
}

TEST(TwinDigest, RoundingIsTheErrorOfStepsThatBeginAlike) {
    TwinDigest digest({"a", "b"});
    step(digest, 1, 0.003F, 0.001F);
    step(digest, 2, 0.02F, 0.01F, /*resynced=*/true);
    EXPECT_FLOAT_EQ(*digest.layers()[0].rounding, 0.003F);
    step(digest, 3, 0.004F, 0.002F);
    EXPECT_FLOAT_EQ(*digest.layers()[0].rounding, 0.004F);
    EXPECT_FLOAT_EQ(*digest.layers()[1].rounding, 0.002F);
    step(digest, 4, 0.5F, 0.5F);
    EXPECT_FLOAT_EQ(*digest.layers()[0].rounding, 0.004F);
    EXPECT_FLOAT_EQ(digest.layers()[0].error, 0.5F);
    EXPECT_FLOAT_EQ(digest.layers()[0].angle, 5);
}

TEST(TwinDigest, AResyncForgetsWhoHasDiverged) {
    TwinDigest digest({"a", "b"});
    for (std::int64_t i = 1; i <= 5; ++i) step(digest, i, 0.2F, 0, i == 5);
    EXPECT_EQ(digest.first_to_diverge(), 0U);
    step(digest, 6, 0.2F, 0);
    EXPECT_FALSE(digest.first_to_diverge());
}

TEST(TwinDigest, KeepsTheMarksOfThePartsBeforeAResync) {
    TwinDigest digest({"a", "b"});
    EXPECT_EQ(digest.part_begins(), 1);
    for (std::int64_t i = 1; i <= 8; ++i) step(digest, i, i > 2 ? 0.2F : 0, 0.2F, i == 8);
    EXPECT_TRUE(digest.earlier_marks().empty()) << "the part before the resync still stands";
    for (std::int64_t i = 9; i <= 15; ++i) step(digest, i, 0.2F, 0, i == 15);
    EXPECT_EQ(digest.part_begins(), 9);
    EXPECT_EQ(digest.earlier_marks(), (std::vector<TwinMark>{{1, 1}, {0, 3}}));
    EXPECT_EQ(digest.layers()[0].diverged, 9);
    step(digest, 16, 0, 0);
    EXPECT_EQ(digest.part_begins(), 16);
    EXPECT_EQ(digest.earlier_marks(), (std::vector<TwinMark>{{1, 1}, {0, 3}, {0, 9}}));
    EXPECT_FALSE(digest.first_to_diverge());
}

TEST(TwinDigest, SkippedStepsHaveNoFigures) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    TwinDigest digest({"a", "b"});
    step(digest, 1, 0.003F, 0);
    step(digest, 2, nan, nan, false, /*skipped=*/true);
    EXPECT_FLOAT_EQ(digest.layers()[0].error, 0.003F);
    EXPECT_FALSE(digest.identical());
}

TEST(TwinDigest, KnowsTheFirstDifference) {
    TwinDigest digest({"a", "b"});
    step(digest, 1, 0, 0);
    step(digest, 2, 0, 0);
    EXPECT_TRUE(digest.identical());
    step(digest, 3, 0, 1e-8F);
    step(digest, 4, 1, 1);
    EXPECT_FALSE(digest.identical());
    EXPECT_EQ(digest.first_difference().step, 3);
    EXPECT_EQ(digest.first_difference().layer, 1);
}

TEST(TwinCsv, HasALineForEachLayerOfTheStep) {
    TwinDigest digest({"fc,1", "fc2"});
    for (std::int64_t step = 1; step <= 6; ++step) {
        digest.add({.step = step, .layer = 0, .error = step == 1 ? 0.25F : 0.5F, .angle = 2});
        digest.add({.step = step, .layer = 1, .error = 0.01F, .angle = 1});
    }
    const std::array errors{0.5F, std::numeric_limits<float>::quiet_NaN()};
    const std::array angles{2.0F, std::numeric_limits<float>::quiet_NaN()};
    EXPECT_EQ(to_csv(to_table(
                  digest, {.step = 6, .skipped = true, .errors = errors, .angles = angles})),
              "step,skipped,layer,error,angle_degrees,rounding,diverged_step\n"
              "6,1,\"fc,1\",0.5,2,0.25,1\n6,1,fc2,,,0.00999999978,\n");
}

}  // namespace
}  // namespace engine
