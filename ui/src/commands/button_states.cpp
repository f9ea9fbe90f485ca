#include "commands/button_states.h"

#include <QCoreApplication>

namespace ui {

using engine::RunState;

namespace {

ButtonState yes() { return {true, {}}; }
ButtonState no(const QString& why) { return {false, why}; }
ButtonState unless(const QString& why) { return why.isEmpty() ? yes() : no(why); }

ButtonStates overStates(const Situation& now) {
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

ButtonStates runningStates(const Situation& now) {
    const QString running =
        QCoreApplication::translate("ButtonStates", "A run is in progress. Stop it first.");
    const bool paused =
        now.asked == Asked::pause || (now.state == RunState::paused && now.asked != Asked::resume);
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

}  // namespace

ButtonStates buttonStates(const Situation& now) {
    const bool over = !now.live || now.state == RunState::idle || now.state == RunState::done ||
                      now.state == RunState::failed;
    const bool stopping = !over && (now.state == RunState::stopping || now.asked == Asked::stop);
    if (stopping) {
        const ButtonState ending = no(QCoreApplication::translate(
            "ButtonStates", "Stopping: the step in flight ends first."));
        return {ending, ending, ending, ending, ending, false, ending};
    }
    return over ? overStates(now) : runningStates(now);
}

}  // namespace ui
