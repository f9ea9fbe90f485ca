#include "verdict/loss_gap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "made_record.h"
#include "record/median.h"

namespace engine {
namespace {

constexpr double nan_loss = std::numeric_limits<double>::quiet_NaN();

TEST(LossGap, OfARecordWithItselfIsZeroWithoutNoise) {
    const MadeRecord run(500, jittered(1.0, 0.1, 1));
    const LossGap gap = loss_gap(run.reader(), run.reader());
    EXPECT_EQ(gap.steps, 500);
    EXPECT_GE(gap.compared, 8);
    EXPECT_EQ(gap.gap, 0);
    EXPECT_EQ(gap.noise, 0);
    EXPECT_FALSE(gap.beyond_noise());
    EXPECT_EQ(gap.parted, 0);
}

TEST(LossGap, NoiseIsTwoStandardDeviationsOfTheDifference) {
    // d alternates between -0.1 and 0.1: its standard deviation is 0.1, apart from the estimate's n
    // - 1.
    const MadeRecord a(2048, [](std::int64_t) { return 2.0; });
    const MadeRecord b(2048, [](std::int64_t step) { return step % 2 == 0 ? 2.1 : 1.9; });
    const LossGap gap = loss_gap(a.reader(), b.reader());
    EXPECT_EQ(gap.compared, 512);
    EXPECT_NEAR(gap.gap, 0, 1e-7);
    EXPECT_NEAR(gap.noise, 0.2, 0.2 / 511);
    EXPECT_NEAR(gap.level, 2, 1e-12);
}

TEST(LossGap, FindsTheStepAtWhichTheLossesParted) {
    for (const std::int64_t steps : {200, 3000, 100000}) {
        const std::int64_t at = steps * 7 / 16 + 3;
        const MadeRecord a(steps, jittered(1.0, 0.02, 1));
        const MadeRecord b(steps, [at, noise = jittered(1.0, 0.02, 2)](std::int64_t step) {
            return noise(step) + (step >= at ? 0.5 : 0.0);
        });
        const LossGap gap = loss_gap(a.reader(), b.reader());
        EXPECT_TRUE(gap.beyond_noise());
        EXPECT_EQ(gap.parted, at) << "of " << steps;
        EXPECT_NEAR(gap.gap, 0.5, 0.02);
    }
}

TEST(LossGap, FindsAPartingAtTheFirstStep) {
    const MadeRecord a(400, jittered(1.0, 0.02, 1));
    const MadeRecord b(400, jittered(1.5, 0.02, 2));
    EXPECT_EQ(loss_gap(a.reader(), b.reader()).parted, 1);
}

TEST(LossGap, ThatWentAwayAgainIsNoParting) {
    const MadeRecord a(1000, jittered(1.0, 0.02, 1));
    const MadeRecord b(1000, [noise = jittered(1.0, 0.02, 2)](std::int64_t step) {
        return noise(step) + (step >= 300 && step < 500 ? 0.5 : 0.0);
    });
    EXPECT_EQ(loss_gap(a.reader(), b.reader()).parted, 0);
}

TEST(LossGap, BelowAFiftiethOfTheLossIsALagAndNoParting) {
    const MadeRecord a(1000, [](std::int64_t) { return 1.0; });
    const MadeRecord b(1000, [](std::int64_t) { return 1.01; });
    const LossGap gap = loss_gap(a.reader(), b.reader());
    EXPECT_TRUE(gap.beyond_noise());
    EXPECT_FALSE(gap.large());
    EXPECT_EQ(gap.parted, 0);
}

TEST(LossGap, FindsTheStepFromWhichALossIsNoNumber) {
    for (const std::int64_t at : {1, 2, 777, 1000}) {
        const MadeRecord a(1000, jittered(1.0, 0.02, 1));
        const MadeRecord b(1000, [at](std::int64_t step) { return step >= at ? nan_loss : 1.0; });
        const LossGap gap = loss_gap(a.reader(), b.reader());
        EXPECT_EQ(gap.other_lost, at);
        EXPECT_EQ(gap.baseline_lost, 0);
    }
}

TEST(LossGap, LeavesOutASingleStepWithoutANumber) {
    const MadeRecord a(64, jittered(1.0, 0.02, 1));
    const MadeRecord b(64, [](std::int64_t step) { return step == 60 ? nan_loss : 1.0; });
    const LossGap gap = loss_gap(a.reader(), b.reader());
    EXPECT_EQ(gap.other_lost, 0);
    EXPECT_TRUE(std::isfinite(gap.gap));
    EXPECT_EQ(gap.compared, 23);  // three windows of 8, minus one
}

TEST(LossGap, OfRecordsTooShortIsUnknown) {
    const MadeRecord none(0, jittered(1.0, 0.02, 1));
    const MadeRecord few(7, jittered(1.0, 0.02, 1));
    EXPECT_EQ(loss_gap(none.reader(), few.reader()).compared, 0);
    EXPECT_EQ(loss_gap(StepRecordReader(), few.reader()).steps, 0);
    EXPECT_LT(loss_gap(few.reader(), few.reader()).compared, 8);
    EXPECT_FALSE(loss_gap(few.reader(), few.reader()).beyond_noise());
}

TEST(RecentMedian, SkipsTheFirstStepsAndWhatWasNotMeasured) {
    const MadeRecord run(40, jittered(1.0, 0, 1), [](StepRecord& row) {
        row.step_ms = row.step <= 10 ? 1000.f : row.step % 2 == 0 ? 3.f : 5.f;
        if (row.step % 3 == 0) row.step_ms = std::numeric_limits<float>::quiet_NaN();
        if (row.step == 40) row.step_ms = 90.f;
    });
    const double median = recent_median(run.reader(), &StepRecord::step_ms);
    EXPECT_TRUE(median == 3 || median == 5) << median;
}

TEST(RecentMedian, IsUnknownForAShortRun) {
    const MadeRecord run(17, jittered(1.0, 0, 1));
    EXPECT_TRUE(std::isnan(recent_median(run.reader(), &StepRecord::step_ms)));
    EXPECT_TRUE(std::isnan(recent_median(StepRecordReader(), &StepRecord::step_ms)));
}

}  // namespace
}  // namespace engine
