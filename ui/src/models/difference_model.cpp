#include "models/difference_model.h"

#include <QFont>

#include "engine/settings/catalog.h"
#include "text/format.h"
#include "text/run_text.h"
#include "text/setting_text.h"

namespace ui {

void DifferenceModel::setRuns(std::vector<engine::RunSummary> runs) {
    beginResetModel();
    runs_ = std::move(runs);
    lines_.clear();
    if (!runs_.empty()) {
        // For several runs the changed settings come first, for one run the results.
        if (runs_.size() > 1) addSettings();
        addResults();
        if (runs_.size() == 1) addSettings();
    }
    endResetModel();
}

void DifferenceModel::addPart(const QString& title) { lines_.push_back({title, {}, {}, true}); }

void DifferenceModel::addSettings() {
    const bool one = runs_.size() == 1;
    const auto rows =
        one ? engine::changed_settings(runs_.front()) : engine::differing_settings(runs_);
    addPart(one ? tr("Settings that differ from the defaults") : tr("Settings that differ"));
    for (const auto& row : rows) {
        Line line{settingTitle(row.field), QString::fromStdString(row.field), {}};
        const auto* info = engine::find_field(row.field);
        const bool followsPreset = info != nullptr && info->optional;
        const QString missing = followsPreset ? tr("from the preset") : unmeasured();
        for (const auto& value : row.values)
            line.values << (value.empty() ? missing : settingValue(row.field, value));
        lines_.push_back(std::move(line));
    }
    if (rows.empty()) lines_.push_back({tr("none"), {}, {}});
}

void DifferenceModel::addResults() {
    addPart(tr("Results"));
    const auto fields = engine::run_fields(runs_);
    for (const auto& row : engine::compare_results(runs_)) {
        const auto* field = engine::find_run_field(fields, row.field);
        Line line{fieldLabel(*field), QString::fromStdString(row.field), {}};
        for (const auto& run : runs_) line.values << fieldText(run, *field);
        lines_.push_back(std::move(line));
    }
}

int DifferenceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(lines_.size());
}

int DifferenceModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(runs_.size()) + 1;
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Line& line = lines_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return index.column() == 0 ? line.name : line.values.value(index.column() - 1);
        case Qt::ToolTipRole:
            return index.column() == 0 ? line.tip : line.values.value(index.column() - 1);
        case PartRole:
            return line.part;
        case Qt::FontRole: {
            QFont font;
            font.setWeight(line.part ? QFont::Bold : QFont::Normal);
            return font;
        }
        default:
            return {};
    }
}

QVariant DifferenceModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    if (role == Qt::TextAlignmentRole) return QVariant::fromValue(Qt::AlignLeft | Qt::AlignVCenter);
    if (section == 0) return {};
    const auto& run = runs_[static_cast<std::size_t>(section - 1)];
    if (role == Qt::ToolTipRole) return QString::fromStdString(run.title);
    if (role != Qt::DisplayRole) return {};
    return QString::fromStdString(run.run);
}

}  // namespace ui
