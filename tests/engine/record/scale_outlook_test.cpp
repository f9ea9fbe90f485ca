#include "engine/record/scale_outlook.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/settings/run_config.h"

namespace engine {
namespace {

std::int64_t more_after(float from, float to, std::int64_t clean_steps = 0) {
    return skips_to_usual_scale(
        {"1", 5, ScaleChanged::Kind::skipped_calibrating, from, to, clean_steps});
}

TEST(ScaleOutlook, CountsTheSkipsThatAreLeftToTheUsualScaleAtTheRateOfTheLastOne) {
    EXPECT_EQ(more_after(0x1p40f, 0x1p39f), 23);
    EXPECT_EQ(more_after(0x1p40f, 0x1p38f), 11) << "a quarter each time";
    EXPECT_EQ(more_after(0x1p18f, 0x1p17f), 1);
    EXPECT_EQ(more_after(0x1.8p18f, 0x1.8p17f), 2) << "the last one goes below";
}

TEST(ScaleOutlook, TheUsualScaleIsTheDefault) {
    EXPECT_EQ(double{usual_loss_scale}, RunConfig{}.scaler.init_scale);
}

TEST(ScaleOutlook, IsZeroAfterAStepThatFitted) { EXPECT_EQ(more_after(0x1p20f, 0x1p19f, 9), 0); }

TEST(ScaleOutlook, IsZeroWhereNoneIsLeftOrTheScaleDidNotFall) {
    EXPECT_EQ(more_after(0x1p17f, 0x1p16f), 0);
    EXPECT_EQ(more_after(0x1p10f, 0x1p9f), 0);
    EXPECT_EQ(more_after(0x1p20f, 0x1p20f), 0);
    EXPECT_EQ(more_after(0x1p20f, 0x1p21f), 0);
    EXPECT_EQ(more_after(std::numeric_limits<float>::infinity(), 0x1p30f), 0);
}

}  // namespace
}  // namespace engine
