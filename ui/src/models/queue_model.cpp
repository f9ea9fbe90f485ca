#include "models/queue_model.h"

#include <algorithm>

#include "engine/runs/run_group.h"
#include "engine/settings/command_line.h"
#include "text/setting_text.h"

namespace ui {
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
    }
    return {};
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

}  // namespace

void QueueModel::setRuns(std::vector<engine::QueuedRun> runs) {
    const auto same = [](const engine::QueuedRun& a, const engine::QueuedRun& b) {
        return a.id == b.id && a.state == b.state && a.run == b.run;
    };
    // A reset would lose the place of a reader.
    if (std::equal(runs.begin(), runs.end(), runs_.begin(), runs_.end(), same)) return;
    beginResetModel();
    runs_ = std::move(runs);
    endResetModel();
}

int QueueModel::rowOf(std::int64_t id) const {
    const auto at = std::find_if(runs_.begin(), runs_.end(),
                                 [id](const engine::QueuedRun& run) { return run.id == id; });
    return at == runs_.end() ? -1 : static_cast<int>(at - runs_.begin());
}

int QueueModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

int QueueModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant QueueModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const engine::QueuedRun& queued = run(index.row());
    if (role == Qt::ToolTipRole) return tip(queued);
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case Settings: {
            const QString label = settingsLabel(queued.entry.label);
            return engine::is_queued_comparison(queued.entry.batch) ? tr("Compared: %1").arg(label)
                                                                    : label;
        }
        case State:
            return queued.errors.empty() ? stateWords(queued.state) : tr("refused");
        default:
            return QString::fromStdString(queued.run);
    }
}

QVariant QueueModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
        case Settings:
            return tr("Settings");
        case State:
            return tr("State");
        default:
            return tr("Run");
    }
}

}  // namespace ui
