#include "models/run_list_model.h"

#include <algorithm>

#include "text/format.h"
#include "text/run_title.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

void RunListModel::setRuns(std::vector<engine::RunSummary> runs) {
    beginResetModel();
    runs_ = std::move(runs);
    endResetModel();
}

int RunListModel::rowOf(const std::string& run) const {
    const auto at = std::find_if(runs_.begin(), runs_.end(),
                                 [&](const engine::RunSummary& r) { return r.run == run; });
    return at == runs_.end() ? -1 : static_cast<int>(at - runs_.begin());
}

int RunListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(runs_.size());
}

int RunListModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns);
}

QString RunListModel::text(const engine::RunSummary& run, int column) const {
    if (column == NameColumn) {
        return QString::fromStdString(run.run) + u' ' + precisionTitle(run.config.precision);
    }
    if (column == AccuracyColumn) return measured(run.test_accuracy, percent);
    if (run.state == "running") return tr("running");
    if (run.state == "stopped") return tr("stopped");
    if (run.state == "diverged") return tr("diverged");
    if (run.state == "failed") return tr("failed");
    if (run.state == "interrupted") return tr("interrupted");
    return tr("done");
}

QIcon RunListModel::dot(const engine::RunSummary& run) const {
    const QPixmap drawn =
        iconPixmap(u"dot"_s, theme_->precision(run.config.precision.preset), size::icon, 2.0);
    QIcon icon(drawn);
    icon.addPixmap(drawn, QIcon::Selected);  // or the style would tint it
    return icon;
}

QString RunListModel::detail(const engine::RunSummary& run) const {
    return tr("%1 · %2 on %3\n%4 steps, %5 skipped\nstarted %6")
        .arg(QString::fromStdString(run.run), QString::fromStdString(run.config.model.kind),
             QString::fromStdString(run.config.dataset.kind), count(run.steps), count(run.skipped),
             QString::fromStdString(run.started).replace(u'T', u' '));
}

QVariant RunListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const auto& run = runs_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return text(run, index.column());
        case Qt::ToolTipRole:
            return detail(run);
        case Qt::DecorationRole:
            if (index.column() != NameColumn) return {};
            return dot(run);
        case Qt::ForegroundRole:
            if (index.column() != StateColumn) return {};
            return QBrush(run.state == "failed" ? theme_->tokens().bad : theme_->tokens().dim);
        case Qt::TextAlignmentRole:
            return index.column() == NameColumn ? QVariant(int(Qt::AlignLeft | Qt::AlignVCenter))
                                                : QVariant(int(Qt::AlignRight | Qt::AlignVCenter));
        default:
            return {};
    }
}

}  // namespace ui
