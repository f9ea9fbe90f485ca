#include <gtest/gtest.h>

#include <limits>

#include "engine/instruments/skip_report.h"
#include "engine/record/step_outcome.h"

namespace engine {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

SkippedStep skip(std::int64_t step) {
    return {.step = step, .skipped = true, .loss = 1, .grad_norm = infinite};
}
SkippedStep broken(std::int64_t step) {
    return {.step = step, .skipped = false, .loss = nan_value, .grad_norm = nan_value};
}

TEST(SkipGroups, FoldConsecutiveStepsOfOneOutcome) {
    SkipList skips;
    skips.list = {skip(3), skip(4), skip(9), broken(10), broken(11), broken(12)};
    EXPECT_EQ(group_skips(skips),
              (std::vector<SkipGroup>{{0, 2, false}, {2, 1, false}, {3, 3, true}}));
    EXPECT_EQ(first_bad_step(skips), 3U);
    skips.list.resize(3);
    EXPECT_FALSE(first_bad_step(skips));
}

TEST(SkipGroups, PartExaminedStepsByTheirCause) {
    SkipList skips;
    skips.list = {skip(1), skip(2), skip(3)};
    skips.list[0].report.emplace().cause = SkipCause::scale_too_large;
    skips.list[2].report.emplace().cause = SkipCause::forward_overflow;
    EXPECT_EQ(group_skips(skips), (std::vector<SkipGroup>{{0, 3, true}}))
        << "a step that was not examined belongs to its neighbours";
    skips.list[1].report.emplace().cause = SkipCause::scale_too_large;
    EXPECT_EQ(group_skips(skips), (std::vector<SkipGroup>{{0, 2, false}, {2, 1, true}}));
    EXPECT_EQ(first_bad_step(skips), 2U);
}

TEST(SkipGroups, ASeriesThatNoLowerScaleEndsIsBad) {
    SkipList skips;
    for (std::int64_t step = 1; step <= 11; ++step) skips.list.push_back(skip(step));
    EXPECT_FALSE(first_bad_step(skips));
    skips.list.push_back(skip(12));
    EXPECT_EQ(first_bad_step(skips), 0U);
}

TEST(SkipGroups, TheFirstStepOfAStaticScaleThatOverflowsStandsAlone) {
    SkipList skips;
    skips.list = {{.step = 1, .skipped = false, .loss = 2.3, .grad_norm = infinite}, broken(2),
                  broken(3)};
    EXPECT_EQ(group_skips(skips), (std::vector<SkipGroup>{{0, 1, true}, {1, 2, true}}));
    EXPECT_EQ(first_bad_step(skips), 0U);
}

TEST(SkipGroups, AreLinesInTheTextOfAListUnlessTheyAreBenign) {
    SkipList skips;
    skips.run = "7";
    skips.steps = 40;
    skips.list = {skip(3), skip(4), broken(10), broken(11), broken(12)};
    const std::string page = skips_page(skips);
    EXPECT_NE(page.find("step 3 "), std::string::npos) << page;
    EXPECT_NE(page.find("step 4 "), std::string::npos) << page;
    EXPECT_NE(page.find("steps 10 to 12, 3 in a row  scale 1  loss NaN  not skipped"),
              std::string::npos)
        << page;
    EXPECT_NE(page.find("5 of 40 steps"), std::string::npos) << page;
}

TEST(StepOutcomes, TellASkipFromWhatWasApplied) {
    EXPECT_EQ(outcome_of(false, 1, 1), StepOutcome::applied);
    EXPECT_EQ(outcome_of(true, 1, infinite), StepOutcome::skipped);
    EXPECT_EQ(outcome_of(true, nan_value, nan_value), StepOutcome::skipped_loss);
    EXPECT_EQ(outcome_of(false, 1, nan_value), StepOutcome::overflowed);
    EXPECT_EQ(outcome_of(false, infinite, 1), StepOutcome::broken_loss);
}

}  // namespace
}  // namespace engine
