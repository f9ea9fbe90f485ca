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
    if (!run.host.empty()) {
        return RunActions::tr(
                   "This run is being trained on %1. If it was cut off there, it can be "
                   "resumed once that machine has been silent for 90 s.")
            .arg(QString::fromStdString(run.host));
    }
    if (run.state == "running") return RunActions::tr("This run is being trained.");
    if (run.state == "done") return RunActions::tr("This run has ended as planned.");
    return {};
}

QString whyNotRepeated(const engine::RunSummary& run) {
    return run.origin ? RunActions::tr("Another program trains this run.") : QString();
}

}  // namespace ui
