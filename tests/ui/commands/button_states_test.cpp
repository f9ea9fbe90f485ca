#include "commands/button_states.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::RunState;

RunStatus training(RunState state, PendingCommand asked = PendingCommand::nothing) {
    return {state, true, true, {}, {}, asked};
}

TEST(ButtonStates, OfferCompareStartAndStepWhenNothingRuns) {
    for (const auto state : {RunState::idle, RunState::done, RunState::failed}) {
        const auto s = buttonStates({state, false, false, {}, {}, PendingCommand::nothing});
        EXPECT_TRUE(s.compare.enabled && s.start.enabled && s.step.enabled);
        EXPECT_FALSE(s.pause.enabled || s.stop.enabled);
    }
}

TEST(ButtonStates, OfferNoStepOverResultsOnScreen) {
    for (const bool live : {false, true}) {
        const auto s = buttonStates({RunState::done, live, true, {}, {}, PendingCommand::nothing});
        EXPECT_TRUE(s.compare.enabled && s.start.enabled);
        EXPECT_FALSE(s.step.enabled);
        EXPECT_FALSE(s.step.why.isEmpty());
    }
}

TEST(ButtonStates, OfferNothingToStartWhileASettingIsRefused) {
    const QString why = u"Batch size: \"0\" is not valid."_s;
    const auto s = buttonStates({RunState::idle, false, false, why, why, PendingCommand::nothing});
    EXPECT_FALSE(s.compare.enabled || s.start.enabled || s.step.enabled);
    EXPECT_EQ(s.compare.why, why);
}

TEST(ButtonStates, OfferTheSingleRunWhileOnlyAComparedPrecisionCannotRun) {
    const QString why = u"TF32 needs an NVIDIA Ampere or newer GPU."_s;
    const auto s = buttonStates({RunState::idle, false, false, {}, why, PendingCommand::nothing});
    EXPECT_TRUE(s.start.enabled);
    EXPECT_FALSE(s.compare.enabled || s.step.enabled);
}

TEST(ButtonStates, OfferPauseAndStopWhileTraining) {
    for (const auto state : {RunState::preparing, RunState::training, RunState::evaluating}) {
        const auto s = buttonStates(training(state));
        EXPECT_TRUE(s.pause.enabled && s.stop.enabled);
        EXPECT_FALSE(s.pauseResumes);
        EXPECT_FALSE(s.compare.enabled || s.start.enabled || s.step.enabled);
    }
}

TEST(ButtonStates, ChangeOnTheClickOfPauseAndNotOnTheAnswer) {
    const auto s = buttonStates(training(RunState::training, PendingCommand::pause));
    EXPECT_TRUE(s.pauseResumes);
    EXPECT_TRUE(s.step.enabled);
    EXPECT_FALSE(buttonStates(training(RunState::paused, PendingCommand::resume)).pauseResumes);
}

TEST(ButtonStates, DisableStopOnItsClick) {
    const auto s = buttonStates(training(RunState::training, PendingCommand::stop));
    EXPECT_FALSE(s.stop.enabled || s.pause.enabled || s.compare.enabled || s.step.enabled);
    EXPECT_FALSE(s.stop.why.isEmpty());
}

TEST(ButtonStates, SayWhyForEveryButtonThatIsDisabled) {
    for (int state = 0; state <= static_cast<int>(RunState::failed); ++state) {
        for (const auto asked : {PendingCommand::nothing, PendingCommand::pause,
                                 PendingCommand::resume, PendingCommand::stop}) {
            for (int bits = 0; bits < 16; ++bits) {
                const auto why = [bits](int bit) {
                    return (bits & bit) != 0 ? u"Refused."_s : QString();
                };
                const auto s = buttonStates({static_cast<RunState>(state), (bits & 1) != 0,
                                             (bits & 2) != 0, why(4), why(8), asked});
                for (const auto* b : {&s.compare, &s.start, &s.pause, &s.step, &s.stop}) {
                    EXPECT_EQ(b->enabled, b->why.isEmpty());
                }
            }
        }
    }
}

TEST(ButtonStates, SeveralWorkersCanBeStoppedAndNothingElse) {
    const ButtonStates now = workerButtons(/*stopping=*/false);
    EXPECT_TRUE(now.stop.enabled);
    for (const auto& other : {now.compare, now.start, now.pause, now.step, now.demonstrate}) {
        EXPECT_FALSE(other.enabled);
        EXPECT_FALSE(other.why.isEmpty());
    }
    EXPECT_FALSE(workerButtons(/*stopping=*/true).stop.enabled);
}

}  // namespace
}  // namespace ui
