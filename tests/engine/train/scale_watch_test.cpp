#include "train/scale_watch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace engine {
namespace {

StepRecord row(std::int64_t step, float scale, bool skipped, float loss = 1.f) {
    StepRecord out{};
    out.step = step;
    out.loss = loss;
    out.loss_scale = scale;
    out.found_inf = skipped ? 1 : 0;
    return out;
}

TEST(ScaleWatch, CountsCleanStepsSinceTheScaleLastChanged) {
    ScaleWatch watch;
    std::int64_t step = 0;
    for (const float scale : {1.f, 2.f, 4.f}) {
        for (int i = 0; i < 9; ++i)
            EXPECT_FALSE(watch.see("1", row(++step, scale, false), static_cast<double>(scale)));
        const auto grown =
            watch.see("1", row(++step, scale, false), 2 * static_cast<double>(scale));
        ASSERT_TRUE(grown.has_value());
        EXPECT_EQ(grown->clean_steps, 10) << "at scale " << scale;
    }
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(watch.see("1", row(++step, 8, false), 8));
    EXPECT_EQ(watch.see("1", row(++step, 8, true), 4)->clean_steps, 3);
    EXPECT_EQ(watch.see("1", row(++step, 4, true), 2)->clean_steps, 0);
}

TEST(ScaleWatch, TellsALossThatIsNotFiniteFromAGradientOverflow) {
    ScaleWatch watch;
    EXPECT_FALSE(watch.see("1", row(1, 8, true), 4)->loss.has_value());
    const auto broken = watch.see("1", row(2, 4, true, std::nanf("")), 2);
    ASSERT_TRUE(broken->loss.has_value());
    EXPECT_TRUE(std::isnan(*broken->loss));
    EXPECT_EQ(broken->kind, ScaleChanged::Kind::skipped_persistent);
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(watch.see("1", row(3, 2, true, inf), 1)->loss, inf);
}

}  // namespace
}  // namespace engine
