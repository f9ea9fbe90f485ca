#include "panels/history/run_actions.h"

#include <QCoreApplication>
#include <utility>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "commands/run_history.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "panels/history/longer_dialog.h"
#include "text/format.h"
#include "view/context.h"

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
    if (run.state == "missing") return RunActions::tr("The folder of this run is gone.");
    return {};
}

QString whyNotResumed(const std::vector<engine::RunSummary>& runs) {
    if (runs.empty()) return RunActions::tr("Select a run first.");
    if (runs.size() == 1) return whyNotResumed(runs.front());
    const std::string group = engine::common_group(runs);
    if (group.empty())
        return RunActions::tr("Select one run, or the runs of one comparison or sweep.");
    bool unfinished = false;
    for (const auto& run : runs) {
        const QString why = whyNotResumed(run);
        if (!why.isEmpty()) return why;
        unfinished = unfinished || engine::is_unfinished(run);
    }
    const auto plan = unfinished ? std::nullopt : engine::plan_of_group(runs);
    if (unfinished || (plan && !engine::unstarted_runs(*plan, runs).empty())) return {};
    return RunActions::tr(
        "All of these runs have ended. Select one to give it more "
        "epochs.");
}

std::vector<engine::RunSummary> withItsComparison(const engine::RunSummary& run,
                                                  const std::vector<engine::RunSummary>& history) {
    const bool alone = run.group.empty() || engine::is_sweep_group(run.group);
    return alone ? std::vector{run} : engine::runs_of_group(history, run.group);
}

QString nameOfRuns(const std::vector<engine::RunSummary>& runs,
                   const std::vector<engine::RunSummary>& history) {
    if (runs.size() == 1)
        return RunActions::tr("run %1").arg(QString::fromStdString(runs.front().run));
    const std::string group = engine::common_group(runs);
    const bool whole = !group.empty() && runs.front().group_number > 0 &&
                       engine::runs_of_group(history, group).size() == runs.size();
    const QString number = count(runs.front().group_number);
    if (whole && engine::is_sweep_group(group)) return RunActions::tr("sweep %1").arg(number);
    if (whole) return RunActions::tr("comparison %1").arg(number);
    return RunActions::tr("%1 runs").arg(count(static_cast<std::int64_t>(runs.size())));
}

void resumeTogether(const Context& context, const std::vector<engine::RunSummary>& runs,
                    std::function<void(bool)> then) {
    const std::string group = engine::common_group(runs);
    const auto all = engine::runs_of_group(*context.history->runs(), group);
    if (!engine::is_sweep_group(group)) return context.commands->resumeGroup(all, std::move(then));
    if (!context.queue->hasSweep(group)) context.queue->restoreSweep(all);
    context.queue->start(group);
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
