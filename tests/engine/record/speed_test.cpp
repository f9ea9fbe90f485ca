#include "engine/record/speed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "record/step_record.h"
#include "temp_folder.h"

namespace engine {
namespace {

/// A record whose step `i` takes time(i) ms and has 32 samples.
struct Timed {
    Timed(std::int64_t steps, const std::function<double(std::int64_t)>& time) {
        auto writer = StepRecordWriter::create(folder.path());
        for (std::int64_t i = 1; i <= steps; ++i) {
            StepRecord row{};
            row.step = i;
            row.samples = 32 * i;
            row.step_ms = static_cast<float>(time(i));
            writer.append(row);
        }
        record = writer.reader();
    }
    test_support::TempFolder folder;
    StepRecordReader record;
};

double constant(std::int64_t) { return 2; }

TEST(Speed, IsThatOfTheMiddleHalfWithoutTheFirstTenSteps) {
    const Timed run(100, [](std::int64_t i) { return i <= 10 ? 50 : i == 60 ? 900 : 2; });
    const Speed speed = speeds({run.record}).front();
    EXPECT_EQ(speed.step_ms, 2);
    EXPECT_EQ(speed.samples_per_s, 16'000);
    EXPECT_EQ(speed.first_step, 11);
    EXPECT_EQ(speed.last_step, 100);
}

/// Half of the steps read their batch first: 2.5 ms, however the two groups alternate.
TEST(Speed, DoesNotJumpBetweenTwoGroupsOfSteps) {
    for (const std::int64_t steps : {110, 111, 112}) {
        const Timed run(steps, [](std::int64_t i) { return i % 2 == 0 ? 2 : 3; });
        EXPECT_NEAR(speeds({run.record}).front().step_ms, 2.5, 0.02) << steps;
    }
}

/// Each tenth step ends an epoch with a quarter of the batches.
TEST(Speed, OfSamplesIsThatOfTheStepsWhoseTimeCounts) {
    test_support::TempFolder folder;
    auto writer = StepRecordWriter::create(folder.path());
    StepRecord row{};
    for (row.step = 1; row.step <= 110; ++row.step) {
        const bool is_short = row.step % 10 == 0;
        row.samples += is_short ? 32 : 128;
        row.step_ms = is_short ? 1.0f : 4.0f;
        writer.append(row);
    }
    const Speed speed = speeds({writer.reader()}).front();
    EXPECT_EQ(speed.step_ms, 4);
    EXPECT_EQ(speed.samples_per_s, 32'000);
}

TEST(Speed, IsMeasuredOverTheSameStepsOfAllRuns) {
    // Both take twice as long after step 600, which the second run has not reached.
    const auto slows = [](std::int64_t i) { return i > 600 ? 4.0 : 2.0; };
    const Timed ahead(2000, slows), behind(600, slows);
    const auto both = speeds({ahead.record, behind.record});
    EXPECT_EQ(both[0].step_ms, 2);
    EXPECT_EQ(both[1].step_ms, 2);
    EXPECT_EQ(both[0].first_step, 89);  // the newest 512 steps that both have
    EXPECT_EQ(both[0].last_step, 600);
    EXPECT_EQ(speeds({ahead.record}).front().step_ms, 4);
}

TEST(Speed, OfARunThatEndedInItsWarmUpIsUnknownBesideALongerOne) {
    const Timed run(100, constant), shorter(15, constant);
    const auto both = speeds({run.record, shorter.record});
    EXPECT_EQ(both[0].last_step, 100);
    EXPECT_FALSE(both[1].known());
    EXPECT_TRUE(std::isnan(both[1].samples_per_s));
}

TEST(Speed, OfShortRunsLeavesOutTheirFirstHalf) {
    const Timed run(6, [](std::int64_t i) { return i <= 3 ? 100 : 3; });
    const Speed speed = speeds({run.record}).front();
    EXPECT_EQ(speed.step_ms, 3);
    EXPECT_EQ(speed.first_step, 4);
}

TEST(Speed, OfRunsWithoutStepsIsUnknown) {
    const Timed none(0, constant), one(1, constant), run(50, constant);
    EXPECT_TRUE(speeds({}).empty());
    EXPECT_FALSE(speeds({none.record}).front().known());
    EXPECT_FALSE(speeds({one.record}).front().known());
    EXPECT_FALSE(speeds({StepRecordReader(), run.record})[0].known());
    EXPECT_TRUE(speeds({StepRecordReader(), run.record})[1].known());
}

TEST(Speed, EndsWhereTheReaderDoes) {
    const Timed run(600, [](std::int64_t i) { return i > 300 ? 4.0 : 2.0; });
    EXPECT_EQ(speeds({run.record.up_to(300)}).front().step_ms, 2);
}

}  // namespace
}  // namespace engine
