#include "panels/run_actions.h"

#include <QCoreApplication>

namespace ui {

namespace {

struct RunActions {
    Q_DECLARE_TR_FUNCTIONS(RunActions)
};

}  // namespace

QString whyNotResumed(const engine::RunSummary& run) {
    if (run.origin) return RunActions::tr("Another program trains this run.");
    if (run.state == "running") return RunActions::tr("This run is being trained.");
    if (run.state == "done") return RunActions::tr("This run has ended as planned.");
    return {};
}

QString whyNotRepeated(const engine::RunSummary& run) {
    return run.origin ? RunActions::tr("Another program trains this run.") : QString();
}

}  // namespace ui
