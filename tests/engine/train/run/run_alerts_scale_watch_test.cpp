#include "train/run/run_alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace engine {
namespace {

using testing::Each;

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
            EXPECT_FALSE(watch.see(row(++step, scale, false), static_cast<double>(scale)));
        const auto grown =
            watch.see(row(++step, scale, false), 2 * static_cast<double>(scale));
        ASSERT_TRUE(grown.has_value());
        EXPECT_EQ(grown->clean_steps, 10) << "at scale " << scale;
    }
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(watch.see(row(++step, 8, false), 8));
    EXPECT_EQ(watch.see(row(++step, 8, true), 4)->clean_steps, 3);
    EXPECT_EQ(watch.see(row(++step, 4, true), 2)->clean_steps, 0);
}

TEST(ScaleWatch, TellsALossThatIsNotFiniteFromAGradientOverflow) {
    ScaleWatch watch;
    EXPECT_FALSE(watch.see(row(1, 8, true), 4)->loss.has_value());
    const auto broken = watch.see(row(2, 4, true, std::nanf("")), 2);
    ASSERT_TRUE(broken->loss.has_value());
    EXPECT_TRUE(std::isnan(*broken->loss));
    EXPECT_EQ(broken->kind, ScaleChanged::Kind::skipped_persistent);
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(watch.see(row(3, 2, true, inf), 1)->loss, inf);
}

/// The kind of each skip of a scale that falls by `factor` from `scale` on.
std::vector<ScaleChanged::Kind> kinds_of_skips(ScaleWatch& watch, float scale, float factor,
                                               int skips) {
    std::vector<ScaleChanged::Kind> out;
    for (int i = 0; i < skips; ++i, scale *= factor)
        out.push_back(
            watch.see(row(i + 1, scale, true), static_cast<double>(scale * factor))->kind);
    return out;
}

TEST(ScaleWatch, ASkipIsPersistentOnceTheScaleIsUsedUpWhereverItBegan) {
    using enum ScaleChanged::Kind;
    ScaleWatch high;
    EXPECT_THAT(kinds_of_skips(high, 0x1p40f, 0.5f, 39), Each(skipped_calibrating))
        << "overflow at 2^2 and above";
    EXPECT_THAT(kinds_of_skips(high, 0x1p1f, 0.5f, 3), Each(skipped_persistent));
    ScaleWatch usual;
    EXPECT_THAT(kinds_of_skips(usual, 0x1p16f, 0.5f, 15), Each(skipped_calibrating));
    EXPECT_THAT(kinds_of_skips(usual, 0x1p1f, 0.5f, 3), Each(skipped_persistent));
    ScaleWatch slow;
    EXPECT_THAT(kinds_of_skips(slow, 0x1p16f, 0.9f, 100), Each(skipped_calibrating))
        << "the scale is still above 1";
    ScaleWatch low;
    EXPECT_THAT(kinds_of_skips(low, 4, 0.5f, 15), Each(skipped_calibrating)) << "too few";
    EXPECT_THAT(kinds_of_skips(low, 0x1p-13f, 0.5f, 3), Each(skipped_persistent));
}

TEST(ScaleWatch, AfterAScaleThatFittedTheNextSixteenHalvingsUseItUp) {
    using enum ScaleChanged::Kind;
    ScaleWatch watch;
    EXPECT_FALSE(watch.see(row(1, 0x1p24f, false), 0x1p24));
    EXPECT_THAT(kinds_of_skips(watch, 0x1p24f, 0.5f, 15), Each(skipped_calibrating));
    ScaleWatch resumed;
    resumed.load_state(watch.saved_state());
    EXPECT_THAT(kinds_of_skips(resumed, 0x1p9f, 0.5f, 3), Each(skipped_persistent));
}

TEST(ScaleWatch, SkipsAtAScaleThatCannotFallArePersistent) {
    using enum ScaleChanged::Kind;
    ScaleWatch watch;
    EXPECT_THAT(kinds_of_skips(watch, 1024, 1, 15), Each(skipped_calibrating));
    EXPECT_THAT(kinds_of_skips(watch, 1024, 1, 3), Each(skipped_persistent));
}

TEST(ScaleWatch, GoesOnFromAStateWithoutTheFittingScale) {
    ScaleWatch watch;
    SavedNumbers saved = watch.saved_state();
    ASSERT_EQ(saved.erase("fitting_scale"), 1u);
    watch.load_state(saved);
    using enum ScaleChanged::Kind;
    EXPECT_THAT(kinds_of_skips(watch, 0x1p16f, 0.5f, 15), Each(skipped_calibrating));
    EXPECT_THAT(kinds_of_skips(watch, 0x1p1f, 0.5f, 3), Each(skipped_persistent))
        << "2^-16 of the usual scale";
}

TEST(ScaleWatch, AScaleThatWaitsForItsHysteresisMayStillHelp) {
    using enum ScaleChanged::Kind;
    ScaleWatch watch(/*hysteresis=*/20);
    EXPECT_THAT(kinds_of_skips(watch, 0x1p16f, 1, 19), Each(skipped_calibrating));
    EXPECT_THAT(kinds_of_skips(watch, 0x1p16f, 0.5f, 1), Each(skipped_calibrating));
    EXPECT_THAT(kinds_of_skips(watch, 0x1p15f, 1, 14), Each(skipped_calibrating));
    EXPECT_THAT(kinds_of_skips(watch, 0x1p15f, 1, 3), Each(skipped_persistent));
}

}  // namespace
}  // namespace engine
