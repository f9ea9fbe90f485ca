#include "panels/run_actions.h"

#include <QCoreApplication>
#include <utility>

#include "commands/commands.h"
#include "panels/longer_dialog.h"

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
    return {};
}

void resumeOrAsk(QWidget* parent, Commands* commands, const engine::RunSummary& run,
                 std::function<void(bool)> then) {
    if (run.state != "done") return commands->resume(run, std::move(then));
    auto* dialog = new LongerDialog(run, parent);
    QObject::connect(dialog, &QDialog::accepted, commands,
                     [dialog, commands, run, then = std::move(then)] {
                         commands->resume(run, then, {dialog->changes(), dialog->schedule()});
                     });
    dialog->show();
}

QString whyNotRepeated(const engine::RunSummary& run) {
    return run.origin ? RunActions::tr("Another program trains this run.") : QString();
}

}  // namespace ui
