#include "button_states.h"

#include <QCoreApplication>

namespace ui {

using engine::RunState;

namespace {

ButtonState yes() { return {true, {}}; }
ButtonState no(const QString& why) { return {false, why}; }

}  // namespace

ButtonStates buttonStates(RunState state, bool live, bool settingsGood, Asked asked) {
    const bool over =
        !live || state == RunState::idle || state == RunState::done || state == RunState::failed;
    const bool stopping = !over && (state == RunState::stopping || asked == Asked::stop);
    const bool paused =
        asked == Asked::pause || (state == RunState::paused && asked != Asked::resume);
    const QString running =
        QCoreApplication::translate("ButtonStates", "A run is under way. Stop it first.");
    const QString refused = QCoreApplication::translate(
        "ButtonStates", "A setting is refused. See the findings under the settings.");
    const QString nothing = QCoreApplication::translate("ButtonStates", "Nothing is running.");
    const QString ending =
        QCoreApplication::translate("ButtonStates", "Stopping: the step in flight ends first.");

    ButtonStates out;
    if (stopping) {
        out = {no(ending), no(ending), no(ending), no(ending), no(ending), false, no(ending)};
        return out;
    }
    if (over) {
        out.compare = settingsGood ? yes() : no(refused);
        out.start = settingsGood ? yes() : no(refused);
        out.step = settingsGood ? yes() : no(refused);
        out.pause = no(nothing);
        out.stop = no(nothing);
        out.demonstrate = yes();  // it has settings of its own
        return out;
    }
    out.compare = no(running);
    out.start = no(running);
    out.demonstrate = no(running);
    out.pause = yes();
    out.pauseResumes = paused;
    out.step =
        paused
            ? yes()
            : no(QCoreApplication::translate("ButtonStates", "Pause first, then go step by step."));
    out.stop = yes();
    return out;
}

}  // namespace ui
