#include "button_states.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using engine::RunState;

TEST(ButtonStates, OfferCompareStartAndStepWhenNothingRuns) {
    for (const auto state : {RunState::idle, RunState::done, RunState::failed}) {
        const auto s = buttonStates(state, false, true, Asked::nothing);
        EXPECT_TRUE(s.compare.enabled && s.start.enabled && s.step.enabled);
        EXPECT_FALSE(s.pause.enabled || s.stop.enabled);
    }
}

TEST(ButtonStates, OfferNothingToStartWhileASettingIsRefused) {
    const auto s = buttonStates(RunState::idle, false, false, Asked::nothing);
    EXPECT_FALSE(s.compare.enabled || s.start.enabled || s.step.enabled);
    EXPECT_FALSE(s.compare.why.isEmpty());
}

TEST(ButtonStates, OfferPauseAndStopWhileTraining) {
    for (const auto state : {RunState::preparing, RunState::training, RunState::evaluating}) {
        const auto s = buttonStates(state, true, true, Asked::nothing);
        EXPECT_TRUE(s.pause.enabled && s.stop.enabled);
        EXPECT_FALSE(s.pauseResumes);
        EXPECT_FALSE(s.compare.enabled || s.start.enabled || s.step.enabled);
    }
}

TEST(ButtonStates, ChangeOnTheClickOfPauseAndNotOnTheAnswer) {
    const auto s = buttonStates(RunState::training, true, true, Asked::pause);
    EXPECT_TRUE(s.pauseResumes);
    EXPECT_TRUE(s.step.enabled);
    EXPECT_FALSE(buttonStates(RunState::paused, true, true, Asked::resume).pauseResumes);
}

TEST(ButtonStates, DisableStopOnItsClick) {
    const auto s = buttonStates(RunState::training, true, true, Asked::stop);
    EXPECT_FALSE(s.stop.enabled || s.pause.enabled || s.compare.enabled || s.step.enabled);
    EXPECT_FALSE(s.stop.why.isEmpty());
}

TEST(ButtonStates, SayWhyForEveryButtonThatIsDisabled) {
    for (int state = 0; state <= static_cast<int>(RunState::failed); ++state) {
        for (const auto asked : {Asked::nothing, Asked::pause, Asked::resume, Asked::stop}) {
            for (const bool live : {false, true}) {
                for (const bool good : {false, true}) {
                    const auto s = buttonStates(static_cast<RunState>(state), live, good, asked);
                    for (const auto* b : {&s.compare, &s.start, &s.pause, &s.step, &s.stop}) {
                        EXPECT_EQ(b->enabled, b->why.isEmpty());
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace ui
