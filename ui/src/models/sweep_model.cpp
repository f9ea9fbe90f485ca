#include "models/sweep_model.h"

#include <QRegularExpression>
#include <algorithm>

#include "text/format.h"
#include "text/metric_text.h"
#include "text/setting_text.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QString tip(const engine::SweepRow& row) {
    const QString label = settingsLabel(row.label);
    if (row.runs.empty()) return label;
    return label + u'\n' + SweepModel::tr("Runs: %1").arg(stringList(row.runs).join(u", "_s));
}

}  // namespace

void SweepModel::setRows(std::int64_t seeds, std::vector<engine::SweepRow> rows) {
    beginResetModel();
    seeds_ = seeds;
    rows_ = std::move(rows);
    shared_ = sharedTitles();
    endResetModel();
    emit headerDataChanged(Qt::Horizontal, Settings, Settings);
}

QStringList SweepModel::sharedTitles() const {
    const auto titlesOf = [](const engine::SweepRow& row) {
        QStringList titles;
        for (const LabelPart& part : labelParts(row.label)) titles << part.title;
        return titles;
    };
    if (rows_.empty()) return {};
    const QStringList first = titlesOf(rows_.front());
    const bool same = std::ranges::all_of(
        rows_, [&](const engine::SweepRow& row) { return titlesOf(row) == first; });
    return same && !first.contains(QString()) ? first : QStringList();
}

QString SweepModel::pointText(const engine::SweepRow& row) const {
    if (shared_.isEmpty()) return settingsLabel(row.label);
    QStringList values;
    for (const LabelPart& part : labelParts(row.label)) values << part.value;
    return values.join(u" · "_s);
}

QString SweepModel::figure() const {
    const auto known = std::find_if(rows_.begin(), rows_.end(),
                                    [](const engine::SweepRow& row) { return !row.part.empty(); });
    if (known == rows_.end()) return {};
    const QString metric = metricInline(known->metric);
    return known->part == "validation" ? tr("validation %1").arg(metric)
                                       : tr("test %1").arg(metric);
}

int SweepModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SweepModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QString SweepModel::spread(const engine::SweepRow& row, const engine::MeanSpread& value) const {
    const QString mean = metricValue(row.metric, value.mean);
    if (row.finished < 2 || std::isnan(value.mean)) return mean;
    const QString spread = metricValue(row.metric, value.spread);
    // One unit for both: "65.2 ± 3.9 %".
    const qsizetype digits = mean.lastIndexOf(QRegularExpression(u"\\d"_s)) + 1;
    const bool sameUnit = digits < mean.size() && spread.endsWith(mean.mid(digits));
    return (sameUnit ? mean.left(digits) : mean) + u" ± "_s + spread;
}

QVariant SweepModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const engine::SweepRow& row = rows_[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole) return tip(row);
    if (role == Qt::TextAlignmentRole && index.column() != Settings)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case Settings:
            return pointText(row);
        case Best:
            return spread(row, row.best);
        case Last:
            return spread(row, row.last);
        case Time:
            return duration(row.wall_s.mean);
        default:
            return row.failed == 0
                       ? u"%1/%2"_s.arg(row.finished).arg(seeds_)
                       : tr("%1/%2, %3 failed").arg(row.finished).arg(seeds_).arg(row.failed);
    }
}

QVariant SweepModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((section == Settings ? Qt::AlignLeft : Qt::AlignRight) |
                                   Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case Settings:
            return shared_.isEmpty() ? tr("Settings") : shared_.join(u" · "_s);
        case Best:
            return tr("Best");
        case Last:
            return tr("Last");
        case Time:
            return tr("Time");
        default:
            return tr("Seeds");
    }
}

}  // namespace ui
