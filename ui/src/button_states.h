#pragma once

#include <QString>

#include "engine/event.h"

namespace ui {

/// One button of the command bar. An empty reason: it can be pressed; else why it cannot.
struct ButtonState {
    bool enabled = false;
    QString why;

    bool operator==(const ButtonState&) const = default;
};

/// What the command bar offers.
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

/// What the user last asked for and the engine has not confirmed yet: the buttons change at once.
enum class Asked { nothing, pause, resume, stop };

/// The buttons from the state of the experiment, whether one exists, whether the settings can run,
/// and what was asked.
ButtonStates buttonStates(engine::RunState state, bool live, bool settingsGood, Asked asked);

}  // namespace ui
