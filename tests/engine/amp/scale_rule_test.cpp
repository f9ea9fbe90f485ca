#include "amp/scale_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace engine {
namespace {

TEST(ScaleRule, GrowsOnTheCleanStepThatFillsTheIntervalAndNotBefore) {
    ScaleRule scaler({.init_scale = 1024, .growth_factor = 2, .growth_interval = 3});
    scaler.update(/*found_inf=*/false);
    scaler.update(false);
    EXPECT_EQ(scaler.loss_scale(), 1024.f);
    scaler.update(false);
    EXPECT_EQ(scaler.loss_scale(), 2048.f);
    EXPECT_EQ(scaler.growth_tracker(), 0);
}

TEST(ScaleRule, TestsTheIntervalByEquality) {
    // An interval of 0 is never reached, since the tracker plus one starts at 1.
    ScaleRule scaler({.init_scale = 4, .growth_interval = 0});
    for (int i = 0; i < 100; ++i) scaler.update(false);
    EXPECT_EQ(scaler.loss_scale(), 4.f);
    EXPECT_EQ(scaler.growth_tracker(), 100);
}

TEST(ScaleRule, RoundsTheF64ProductToF32) {
    ScaleRule scaler({.init_scale = 3, .growth_factor = 1.1, .growth_interval = 1});
    scaler.update(false);
    EXPECT_EQ(scaler.loss_scale(), static_cast<float>(3 * 1.1));
    EXPECT_NE(scaler.loss_scale(), 3.f * 1.1f);
}

TEST(ScaleRule, HasNoLowerLimitAndStaysAtZero) {
    ScaleRule scaler({.init_scale = 1});
    for (int i = 0; i < 140; ++i) scaler.update(true);
    EXPECT_EQ(scaler.loss_scale(), 0x1p-140f) << "subnormal, not flushed";
    for (int i = 0; i < 20; ++i) scaler.update(true);
    EXPECT_EQ(scaler.loss_scale(), 0.f);
    ScaleRule zero({.init_scale = 0, .growth_interval = 1});
    zero.update(false);
    EXPECT_EQ(zero.loss_scale(), 0.f);
}

TEST(ScaleRule, KeepsWithinFloorAndCeilingIfTheyAreGiven) {
    ScaleRule scaler({.init_scale = 8, .growth_interval = 1, .min_scale = 3, .max_scale = 20});
    scaler.update(true);
    EXPECT_EQ(scaler.loss_scale(), 4.f);
    scaler.update(true);
    EXPECT_EQ(scaler.loss_scale(), 3.f);
    for (int i = 0; i < 3; ++i) scaler.update(false);
    EXPECT_EQ(scaler.loss_scale(), 20.f);
}

/// The hysteresis variant of loss-scaler.md#update (2.7) in integers: the scale is an exponent of
/// its base.
struct PlainModel {
    int hysteresis, interval;
    int left = hysteresis, clean = 0;

    /// Returns the change of the scale's exponent: -1, 0 or 1.
    int update(bool overflow) {
        if (overflow) {
            clean = 0;
            --left;
            return left > 0 ? 0 : -1;
        }
        left = hysteresis;
        if (++clean < interval) return 0;
        clean = 0;
        return 1;
    }
};

TEST(ScaleRule, X9_FollowsAPlainModelOfHysteresisOnRandomOverflows) {
    std::mt19937 random(9);
    for (const double init : {1.0, 1024.0, 65536.0}) {
        for (const double growth : {1.0, 2.0, 4.0}) {
            for (const double backoff : {0.5, 0.25}) {
                for (const int interval : {10, 100}) {
                    for (const int hysteresis : {10, 100}) {
                        ScaleRule rule({.init_scale = init,
                                        .growth_factor = growth,
                                        .backoff_factor = backoff,
                                        .growth_interval = interval,
                                        .hysteresis = hysteresis});
                        PlainModel model{.hysteresis = hysteresis, .interval = interval};
                        double scale = init;
                        // Long runs of overflows and of clean steps, so that both counters reach
                        // their limits.
                        bool overflow = false;
                        for (int step = 0; step < 2000; ++step) {
                            if (random() % 60 == 0) overflow = !overflow;
                            const int moved = model.update(overflow);
                            const double next = moved > 0   ? scale * growth
                                                : moved < 0 ? scale * backoff
                                                            : scale;
                            if (std::isfinite(static_cast<float>(next)))
                                scale = static_cast<double>(static_cast<float>(next));
                            rule.update(overflow);
                            ASSERT_EQ(rule.loss_scale(), static_cast<float>(scale))
                                << "step " << step << " hysteresis " << hysteresis;
                            ASSERT_EQ(rule.growth_tracker(), model.clean);
                        }
                    }
                }
            }
        }
    }
}

TEST(ScaleRule, OfHysteresisBacksOffOnEveryFurtherOverflow) {
    ScaleRule scaler({.init_scale = 1024, .hysteresis = 3});
    const float expected[] = {1024, 1024, 512, 256, 128};
    for (const float scale : expected) {
        scaler.update(true);
        EXPECT_EQ(scaler.loss_scale(), scale);
    }
    scaler.update(false);  // the counter returns to 3
    scaler.update(true);
    EXPECT_EQ(scaler.loss_scale(), 128.f);
}

}  // namespace
}  // namespace engine
