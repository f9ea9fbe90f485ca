#include "plots/step_ticks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ui {
namespace {

using testing::ElementsAre;

TEST(StepTicks, AreRound) {
    EXPECT_THAT(stepTicks(158), ElementsAre(0, 50, 100, 150));
    EXPECT_THAT(stepTicks(300), ElementsAre(0, 100, 200, 300));
    EXPECT_THAT(stepTicks(900), ElementsAre(0, 200, 400, 600, 800));
    EXPECT_THAT(stepTicks(3910), ElementsAre(0, 1000, 2000, 3000));
    EXPECT_THAT(stepTicks(3), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(stepTicks(1), ElementsAre(0, 1));
}

TEST(StepTicks, AreFew) {
    for (int end = 2; end < 100'000; ++end) {
        const std::size_t ticks = stepTicks(end).size();
        ASSERT_GE(ticks, 3u) << end;
        ASSERT_LE(ticks, 6u) << end;
    }
}

}  // namespace
}  // namespace ui
