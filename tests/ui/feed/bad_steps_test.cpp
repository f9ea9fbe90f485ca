#include "feed/bad_steps.h"

#include <gtest/gtest.h>

#include <limits>

#include "feed/run_track.h"
#include "support/list_source.h"

namespace ui {
namespace {

/// 3,000 steps: 500 was skipped, 1,000 had an infinite gradient, and no loss after 2,000 is finite.
std::vector<engine::StepRecord> rows() {
    std::vector<engine::StepRecord> out;
    for (int i = 1; i <= 3000; ++i) {
        engine::StepRecord row{};
        row.step = i;
        row.loss = i > 2000 ? std::numeric_limits<float>::quiet_NaN() : 1;
        row.grad_norm = i == 1000 ? std::numeric_limits<float>::infinity() : 1;
        row.found_inf = i == 500 ? 1 : 0;
        out.push_back(row);
    }
    return out;
}

struct BadStepsTest : testing::Test {
    RunTrack track{"1", {}};
    BadStepsTest() {
        track.setSource(listSource(rows()));
        track.catchUp(QDeadlineTimer(QDeadlineTimer::Forever));
    }
};

TEST_F(BadStepsTest, CountsWhatNoScalerSkipped) {
    EXPECT_EQ(badSteps(track), (BadSteps{499, 1000, 1}));
    EXPECT_TRUE(badSteps(track).any());
    EXPECT_FALSE(badSteps(RunTrack("2", {})).any());
}

TEST_F(BadStepsTest, WalksFromOneToTheNext) {
    EXPECT_EQ(nextBadRow(track, -1, 1), 499);
    EXPECT_EQ(nextBadRow(track, 499, 1), 999);
    EXPECT_EQ(nextBadRow(track, 999, 1), 2000);
    EXPECT_EQ(nextBadRow(track, 2000, 1), 2001);
    EXPECT_EQ(nextBadRow(track, 2999, 1), -1);
    EXPECT_EQ(nextBadRow(track, 3000, -1), 2999);
    EXPECT_EQ(nextBadRow(track, 2000, -1), 999);
    EXPECT_EQ(nextBadRow(track, 999, -1), 499);
    EXPECT_EQ(nextBadRow(track, 499, -1), -1);
}

/// A program that does not measure gradients writes NaN.
TEST_F(BadStepsTest, OfAnotherProgramAreItsSkipsAlone) {
    track.setOrigin(engine::RunOrigin{});
    EXPECT_EQ(badSteps(track), (BadSteps{499, 0, 0}));
    EXPECT_EQ(nextBadRow(track, 499, 1), -1);
}

}  // namespace
}  // namespace ui
