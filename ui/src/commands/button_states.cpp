#include "commands/button_states.h"

#include <QCoreApplication>

namespace ui {

using engine::RunState;

namespace {

ButtonState yes() { return {true, {}}; }
ButtonState no(const QString& why) { return {false, why}; }
ButtonState unless(const QString& why) { return why.isEmpty() ? yes() : no(why); }

ButtonStates overStates(const RunStatus& now) {
    const QString nothing = QCoreApplication::translate("ButtonStates", "Nothing is running.");
    ButtonStates out;
    out.compare = unless(now.comparison);
    out.start = unless(now.settings);
    // A step would take the results off the screen for a new comparison that nobody asked for.
    out.step = now.shown ? no(QCoreApplication::translate(
                               "ButtonStates",
                               "The runs on screen have ended. Compare or Start begins new ones."))
                         : out.compare;
    out.pause = no(nothing);
    out.stop = no(nothing);
    out.demonstrate = yes();  // it has settings of its own
    return out;
}

ButtonStates runningStates(const RunStatus& now) {
    const QString running =
        QCoreApplication::translate("ButtonStates", "A run is in progress. Stop it first.");
    const bool paused =
        now.asked == PendingCommand::pause ||
        (now.state == RunState::paused && now.asked != PendingCommand::resume);
    ButtonStates out;
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

ButtonStates allOf(const ButtonState& state) {
    return {state, state, state, state, state, false, state};
}

ButtonState ending() {
    return no(
        QCoreApplication::translate("ButtonStates", "Stopping: the current step ends first."));
}

}  // namespace

ButtonStates buttonStates(const RunStatus& now) {
    const bool over = !now.live || now.state == RunState::idle || now.state == RunState::done ||
                      now.state == RunState::failed;
    const bool stopping =
        !over && (now.state == RunState::stopping || now.asked == PendingCommand::stop);
    if (stopping) return allOf(ending());
    return over ? overStates(now) : runningStates(now);
}

ButtonStates workerButtons(bool stopping) {
    if (stopping) return allOf(ending());
    ButtonStates out = allOf(no(QCoreApplication::translate(
        "ButtonStates", "Several workers train this run: it can be stopped, but not paused.")));
    out.stop = yes();
    return out;
}

ButtonStates trialButtons() {
    ButtonStates out = allOf(no(QCoreApplication::translate(
        "ButtonStates", "The first steps of the settings are being tried.")));
    out.stop = yes();
    return out;
}

}  // namespace ui
