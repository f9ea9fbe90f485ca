#include "models/run_list_model.h"

#include <algorithm>

#include "engine/settings/run_config.h"
#include "text/format.h"
#include "text/metric_text.h"
#include "text/precision_title.h"
#include "text/run_text.h"

namespace ui {

void RunListModel::setRuns(std::vector<engine::RunSummary> runs) {
    beginResetModel();
    runs_ = std::move(runs);
    endResetModel();
}

void RunListModel::setFigures(std::vector<engine::RunSummary> runs) {
    if (runs.size() != runs_.size()) return setRuns(std::move(runs));
    runs_ = std::move(runs);
    if (!runs_.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

void RunListModel::setShown(std::set<std::string> runs) {
    if (runs == shown_) return;
    shown_ = std::move(runs);
    if (!runs_.empty()) emit dataChanged(index(0), index(rowCount() - 1), {ShownRole});
}

int RunListModel::rowOf(const std::string& run) const {
    const auto at = std::find_if(runs_.begin(), runs_.end(),
                                 [&](const engine::RunSummary& r) { return r.run == run; });
    return at == runs_.end() ? -1 : static_cast<int>(at - runs_.begin());
}

int RunListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

QString RunListModel::name(const engine::RunSummary& run) const {
    const QString& title = QString::fromStdString(run.title.empty() ? run.run : run.title);
    const QString precision = precisionTitle(run.config.precision);
    return title + u' ' + (run.origin ? programName(*run.origin) + u' ' + precision : precision);
}

QString RunListModel::state(const engine::RunSummary& run) const {
    return run.state == "done" ? QString() : stateText(run);
}

QString RunListModel::detail(const engine::RunSummary& run) const {
    // Figures stand first: a narrow list cuts what its runs most often share.
    QStringList parts;
    if (!engine::broken_on_purpose(run.config).empty()) parts << tr("broken on purpose");
    if (run.skipped > 0) parts << tr("%1 skipped").arg(count(run.skipped));
    parts << duration(run.wall_s) << datasetTitle(run) << modelTitle(run);
    return parts.join(u" · "_s);
}

QString RunListModel::everything(const engine::RunSummary& run) const {
    const std::string broken = engine::broken_on_purpose_text(run.config);
    const QString note =
        broken.empty() ? QString()
                       : u'\n' + tr("broken on purpose: %1").arg(QString::fromStdString(broken));
    return tr("Run %1, %2\n%3 · %4\n%5 steps, %6 skipped\nstarted %7")
               .arg(QString::fromStdString(run.run), stateText(run), datasetTitle(run),
                    modelTitle(run), count(run.steps), count(run.skipped),
                    QString::fromStdString(run.started).replace(u'T', u' ')) +
           note;
}

namespace {

QString primaryValue(const engine::RunSummary& run) {
    const engine::Metric metric = primaryMetric(run.metrics);
    return metricValue(metric, valueOf(run.test, metric));
}

}  // namespace

QVariant RunListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const auto& run = runs_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
        case NameRole:
            return name(run);
        case Qt::AccessibleTextRole:
            return QStringList{name(run),
                               metricTitle(primaryMetric(run.metrics)) + u' ' + primaryValue(run),
                               state(run), detail(run)}
                .join(u", "_s);
        case Qt::EditRole:
            return QString::fromStdString(run.title);
        case Qt::ToolTipRole:
            return everything(run);
        case MetricRole:
            return primaryValue(run);
        case MetricNameRole:
            return metricInline(primaryMetric(run.metrics));
        case StateRole:
            return state(run);
        case DetailRole:
            return detail(run);
        case PrecisionRole:
            return QString::fromStdString(run.config.precision.preset);
        case BrokenRole:
            return run.state == "failed" || run.state == "diverged";
        case ShownRole:
            return shown_.contains(run.run);
        default:
            return {};
    }
}

bool RunListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !index.isValid()) return false;
    const QString title = value.toString().simplified();
    const auto& run = runs_[static_cast<std::size_t>(index.row())];
    if (title != QString::fromStdString(run.title))
        emit renameWanted(QString::fromStdString(run.run), title);
    return true;
}

Qt::ItemFlags RunListModel::flags(const QModelIndex& index) const {
    const auto flags = QAbstractListModel::flags(index);
    return index.isValid() ? flags | Qt::ItemIsEditable : flags;
}

}  // namespace ui
