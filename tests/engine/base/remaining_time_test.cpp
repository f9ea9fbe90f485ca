#include "engine/base/remaining_time.h"

#include <gtest/gtest.h>

#include <limits>

namespace engine {
namespace {

TEST(RemainingTime, IsTheRestAtThePaceSinceItWasFirstSeen) {
    RemainingTime time;
    EXPECT_FALSE(time.after(0.5, 100)) << "a resumed run begins in the middle";
    EXPECT_FALSE(time.after(0.55, 100.5)) << "too early to say";
    EXPECT_DOUBLE_EQ(*time.after(0.6, 110), 40);
    EXPECT_DOUBLE_EQ(*time.after(1, 150), 0);
}

TEST(RemainingTime, SaysNothingWithoutProgressAndBeginsAnewWithOtherWork) {
    RemainingTime time;
    EXPECT_FALSE(time.after(0.2, 0));
    EXPECT_FALSE(time.after(0.2, 50));
    EXPECT_FALSE(time.after(std::numeric_limits<double>::quiet_NaN(), 60));
    EXPECT_TRUE(time.after(0.4, 100));
    EXPECT_FALSE(time.after(0.1, 101)) << "the next piece";
    EXPECT_DOUBLE_EQ(*time.after(0.2, 111), 80);
}

TEST(RemainingTime, IsWrittenInTheTwoLargestUnits) {
    EXPECT_EQ(time_left_text(0.2), "0 s left");
    EXPECT_EQ(time_left_text(59.4), "59 s left");
    EXPECT_EQ(time_left_text(59.6), "1 min 0 s left");
    EXPECT_EQ(time_left_text(200), "3 min 20 s left");
    EXPECT_EQ(time_left_text(7500), "2 h 5 min left");
    EXPECT_EQ(time_left_text(std::numeric_limits<double>::infinity()), "277777 h 46 min left");
}

}  // namespace
}  // namespace engine
