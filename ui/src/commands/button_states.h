#pragma once

#include <QString>

#include "engine/record/event.h"

namespace ui {

/// State of one button of the command bar.
struct ButtonState {
    bool enabled = false;
    QString why;  ///< why it cannot be pressed; empty if it can

    bool operator==(const ButtonState&) const = default;
};

/// States of the command bar's buttons.
struct ButtonStates {
    ButtonState compare;
    ButtonState start;
    ButtonState pause;
    ButtonState step;
    ButtonState stop;
    bool pauseResumes = false;  ///< the pause button now says "Resume"
    ButtonState demonstrate;    ///< the demonstration in the help menu

    bool operator==(const ButtonStates&) const = default;
};

/// The user's last request that the engine has not confirmed yet: the buttons change at once.
enum class PendingCommand { nothing, pause, resume, stop };

/// The situation that decides the states of the buttons.
struct RunStatus {
    engine::RunState state = engine::RunState::idle;
    bool live = false;   ///< there is an experiment, under way or ended
    bool shown = false;  ///< runs are on screen, of the experiment or from the history
    QString settings;    ///< why the settings cannot run; empty if they can
    QString comparison;  ///< why the settings of Compare cannot run; empty if they can
    PendingCommand asked = PendingCommand::nothing;
};
ButtonStates buttonStates(const RunStatus& now);
/// States while a run of several processes is trained, which cannot be paused.
ButtonStates workerButtons(bool stopping);
/// States while the first steps of a run are tried.
ButtonStates trialButtons();

}  // namespace ui
