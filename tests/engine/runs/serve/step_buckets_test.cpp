#include "runs/serve/step_buckets.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

constexpr auto most = static_cast<std::int64_t>(StepBuckets::most);
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(StepBuckets, AShortRunHasABucketAStep) {
    StepBuckets steps;
    steps.add(2.5F, 1024, false);
    steps.add(std::numeric_limits<float>::infinity(), 512, true);
    EXPECT_EQ(steps.width(), 1);
    ASSERT_EQ(steps.buckets().size(), 2U);
    EXPECT_EQ(steps.buckets()[0].loss.last, 2.5F);
    EXPECT_EQ(steps.buckets()[0].skipped, 0);
    EXPECT_TRUE(std::isnan(steps.buckets()[1].loss.last));
    EXPECT_EQ(steps.buckets()[1].broken, 1);
    EXPECT_EQ(steps.buckets()[1].skipped, 1);
    EXPECT_EQ(steps.buckets()[1].scale.greatest, 512);
}

TEST(StepBuckets, EveryStepIsInABucketHoweverLongTheRun) {
    const std::int64_t count = 5 * most + 3;
    StepBuckets steps;
    for (std::int64_t step = 1; step <= count; ++step)
        steps.add(static_cast<float>(step), step == 4321 ? 2 : 1, step % 7 == 0);
    EXPECT_EQ(steps.size(), count);
    EXPECT_EQ(steps.width(), 8);
    EXPECT_EQ(steps.buckets().size(), static_cast<std::size_t>((count + 7) / 8));
    std::int64_t skipped = 0;
    for (std::size_t i = 0; i < steps.buckets().size(); ++i) {
        const StepBucket& bucket = steps.buckets()[i];
        const std::int64_t first = static_cast<std::int64_t>(i) * 8 + 1;
        const std::int64_t last = std::min(first + 7, count);
        EXPECT_EQ(bucket.loss.least, static_cast<float>(first));
        EXPECT_EQ(bucket.loss.greatest, static_cast<float>(last));
        EXPECT_EQ(bucket.loss.last, static_cast<float>(last));
        EXPECT_EQ(bucket.scale.greatest, first <= 4321 && 4321 <= last ? 2 : 1);
        skipped += bucket.skipped;
    }
    EXPECT_EQ(skipped, count / 7);
}

TEST(StepBuckets, ValuesThatAreNotFiniteHideNoOther) {
    StepBuckets steps;
    for (std::int64_t step = 0; step <= most; ++step) steps.add(step % 2 == 0 ? 3 : nan, nan, false);
    EXPECT_EQ(steps.width(), 2);
    EXPECT_EQ(steps.buckets()[0].loss.last, 3);
    EXPECT_EQ(steps.buckets()[0].loss.least, 3);
    EXPECT_EQ(steps.buckets()[0].broken, 1);
    EXPECT_TRUE(std::isnan(steps.buckets()[0].scale.last));
}

}  // namespace
}  // namespace engine
