#include "models/queue_model.h"

#include <algorithm>

#include "engine/runs/queue_listing.h"
#include "engine/runs/run_group.h"
#include "engine/settings/command_line.h"
#include "text/language.h"
#include "text/setting_text.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QString stateWords(engine::QueueState state) {
    switch (state) {
        case engine::QueueState::waiting:
            return QueueModel::tr("waiting");
        case engine::QueueState::running:
            return QueueModel::tr("running");
        case engine::QueueState::done:
            return QueueModel::tr("done");
        case engine::QueueState::failed:
            return QueueModel::tr("failed");
        case engine::QueueState::submitted:
            return QueueModel::tr("submitted");
        case engine::QueueState::stopped:
            return QueueModel::tr("stopped");
    }
    return {};
}

QString whereWords(const engine::QueuedRun& run) {
    if (run.entry.where == engine::QueuePlace::here) return QueueModel::tr("this machine");
    if (run.job.id.empty()) return QueueModel::tr("Slurm");
    return QueueModel::tr("Slurm, job %1").arg(QString::fromStdString(run.job.id));
}

QString tip(const engine::QueuedRun& run) {
    QStringList lines;
    for (const auto& error : run.errors)
        lines << settingErrorText(error, settingTitle(error.field));
    if (lines.isEmpty()) {
        for (const auto& setting : engine::to_overrides(run.entry.config)) {
            const std::string path = setting.substr(0, setting.find('='));
            const std::string value = setting.substr(std::min(path.size() + 1, setting.size()));
            lines << settingTitle(path) + u": "_s + settingValue(path, value);
        }
    }
    return lines.isEmpty() ? QueueModel::tr("default settings") : lines.join(u'\n');
}

QString queuedSettings(const engine::QueuedRun& run) {
    const QString label = settingsLabel(run.entry.label);
    return engine::is_queued_comparison(run.entry.batch) ? QueueModel::tr("Compared: %1").arg(label)
                                                         : label;
}

}  // namespace

QueueModel::QueueModel(QObject* parent) : RowModel(parent) {
    columns_ = {
        {tr("Settings"), queuedSettings},
        {tr("Where"), whereWords},
        {tr("State"),
         [](const engine::QueuedRun& run) {
             return run.errors.empty() ? stateWords(run.state) : tr("refused");
         }},
        {tr("Run"), [](const engine::QueuedRun& run) { return QString::fromStdString(run.run); }}};
}

void QueueModel::setRuns(std::vector<engine::QueuedRun> runs) {
    const auto same = [](const engine::QueuedRun& a, const engine::QueuedRun& b) {
        return a.id == b.id && a.state == b.state && a.run == b.run && a.job == b.job &&
               a.entry.where == b.entry.where;
    };
    // A reset would lose the place of a reader.
    if (!std::ranges::equal(runs, allRows(), same)) setRows(std::move(runs));
}

int QueueModel::rowOf(std::int64_t id) const {
    const auto at = std::ranges::find(allRows(), id, &engine::QueuedRun::id);
    return at == allRows().end() ? -1 : static_cast<int>(at - allRows().begin());
}

QVariant QueueModel::value(const engine::QueuedRun& run, int column, int role) const {
    if (role != Qt::ToolTipRole) return {};
    const QString note = engineText(engine::job_sentence(run));
    return (column == Where || column == State) && !note.isEmpty() ? note : tip(run);
}

}  // namespace ui
