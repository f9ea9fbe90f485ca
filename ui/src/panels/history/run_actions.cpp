#include "panels/history/run_actions.h"

#include <QCoreApplication>
#include <QFormLayout>
#include <QPushButton>
#include <QRadioButton>
#include <algorithm>
#include <limits>
#include <utility>

#include "commands/commands.h"
#include "commands/queue_runner.h"
#include "commands/run_history.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "engine/train/resume.h"
#include "text/format.h"
#include "theme/theme.h"
#include "theme/tokens.h"
#include "view/context.h"
#include "widgets/panel.h"

namespace ui {

using engine::LongerSchedule;

LongerDialog::LongerDialog(const engine::RunSummary& run, QWidget* parent)
    : QDialog(parent),
      config_(run.config),
      epochs_(new QSpinBox(this)),
      schedules_(new QButtonGroup(this)) {
    setObjectName(u"longer"_s);
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowModality(Qt::WindowModal);
    setWindowTitle(tr("Train longer"));
    setMinimumWidth(420);
    auto* column = makeColumn(
        this, {size::inside * 2, size::inside * 2, size::inside * 2, size::inside}, size::inside);
    auto* text =
        makeProse(tr("Run %1 has made all of its steps. It goes on as a new run, which has "
                     "its steps so far.")
                      .arg(QString::fromStdString(run.run)),
                  nullptr, this);
    column->addWidget(text);
    auto* form = new QFormLayout;
    constexpr std::int64_t most = std::numeric_limits<int>::max() / 2;
    const auto epochs = static_cast<int>(std::clamp<std::int64_t>(config_.epochs, 1, most));
    epochs_->setObjectName(u"longerEpochs"_s);
    epochs_->setRange(1, std::numeric_limits<int>::max());
    epochs_->setValue(2 * epochs);
    form->addRow(tr("Epochs in all"), epochs_);
    column->addLayout(form);
    if (engine::schedule_falls(config_)) column->addLayout(makeSchedules());
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    auto* leave = new QPushButton(tr("Cancel"), this);
    auto* go = withName(new QPushButton(tr("Train longer"), this), u"primary"_s);
    go->setDefault(true);
    addWidgets(buttons, {leave, go});
    column->addLayout(buttons);
    setAccessibleDescription(text->text());
    epochs_->setFocus();
    connect(leave, &QPushButton::clicked, this, &QDialog::reject);
    connect(go, &QPushButton::clicked, this, &QDialog::accept);
}

QLayout* LongerDialog::makeSchedules() {
    auto* column = new QVBoxLayout;
    column->addWidget(
        makeLabel(tr("The learning rate has fallen to the end of its schedule. In the "
                     "added steps it"),
                  nullptr, this));
    const auto add = [&](LongerSchedule schedule, const QString& words) {
        auto* button = new QRadioButton(words, this);
        schedules_->addButton(button, static_cast<int>(schedule));
        column->addWidget(button);
        return button;
    };
    add(LongerSchedule::constant, tr("stays at its last value"))->setChecked(true);
    add(LongerSchedule::cycle, tr("begins the schedule anew"));
    add(LongerSchedule::stretch, tr("follows one schedule over all steps, so that it jumps"));
    return column;
}

std::vector<std::string> LongerDialog::changes() const {
    std::vector<std::string> out = {"epochs=" + std::to_string(epochs_->value())};
    if (config_.max_steps > 0) out.emplace_back("max_steps=0");
    return out;
}

LongerSchedule LongerDialog::schedule() const {
    const int chosen = schedules_->checkedId();
    return chosen < 0 ? LongerSchedule::ask : static_cast<LongerSchedule>(chosen);
}

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

void sendRequest(Commands* commands, const engine::RunSummary& run,
                 engine::OutsideRequest request) {
    constexpr double patience_s = 90;  // caches of network file systems are some seconds old
    const QString name = QString::fromStdString(run.run);
    const auto work = [name, folder = run.folder, request] {
        const bool isDone = engine::send_request(folder, request, patience_s).is_done;
        if (!isDone)
            return RunActions::tr("Run %1 has received the request, and does so after what it is "
                                  "computing.")
                .arg(name);
        if (request == engine::OutsideRequest::stop)
            return RunActions::tr("Run %1 has stopped.").arg(name);
        return request == engine::OutsideRequest::pause
                   ? RunActions::tr("Run %1 is paused.").arg(name)
                   : RunActions::tr("Run %1 goes on.").arg(name);
    };
    commands->works()->start(
        {RunActions::tr("Waiting for the process that trains run %1").arg(name), {}, work});
}

QString whyNotRepeated(const engine::RunSummary& run) {
    return run.origin ? RunActions::tr("Another program trains this run.") : QString();
}

}  // namespace ui
