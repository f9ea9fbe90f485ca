#include "train/run/epoch_rules.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

/// The epoch (from 1) after which these losses end the run; 0: they do not.
int stopped_after(EarlyStopping& stopping, const std::vector<double>& losses) {
    int epoch = 0;
    for (const double loss : losses) {
        ++epoch;
        if (stopping.see({}, {.loss = loss, .metrics = {}}, epoch, epoch)) return epoch;
    }
    return 0;
}

TEST(EarlyStopping, EndsTheRunAfterSoManyEpochsWithoutABetterOne) {
    EarlyStopping stopping({.patience = 2, .min_delta = 0}, {});
    EXPECT_EQ(stopped_after(stopping, {3, 2, 2.5, 1, 1, 1.5, 0.5}), 6);
    EXPECT_EQ(stopping.best().state().epoch, 4);
}

TEST(EarlyStopping, NeverEndsTheRunWithPatienceZero) {
    EarlyStopping stopping({.patience = 0, .min_delta = 0}, {});
    EXPECT_EQ(stopped_after(stopping, std::vector<double>(50, 1.0)), 0);
    EXPECT_FALSE(stopping.is_due());
}

TEST(EarlyStopping, AGainOfMinDeltaOrLessDoesNotCount) {
    EarlyStopping strict({.patience = 1, .min_delta = 0.5}, {});
    EXPECT_EQ(stopped_after(strict, {3, 2, 1.5}), 3);
    EarlyStopping lax({.patience = 1, .min_delta = 0.25}, {});
    EXPECT_EQ(stopped_after(lax, {3, 2, 1.5}), 0);
}

TEST(EarlyStopping, GoesOnFromASavedState) {
    EarlyStopping before({.patience = 3, .min_delta = 0}, {});
    EXPECT_EQ(stopped_after(before, {1, 2, 2}), 0);
    EarlyStopping after({.patience = 3, .min_delta = 0}, {});
    after.restore(before.best().state());
    EXPECT_FALSE(after.is_due());
    EXPECT_EQ(stopped_after(after, {2}), 1);
}

}  // namespace
}  // namespace engine
