#include "models/sweep_model.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "text/format.h"
#include "text/metric_text.h"
#include "text/setting_text.h"

namespace ui {
namespace {

QString tip(const engine::SweepRow& row) {
    const QString label = settingsLabel(row.label);
    if (row.runs.empty()) return label;
    return label + u'\n' + SweepModel::tr("Runs: %1").arg(stringList(row.runs).join(u", "_s));
}

QString spread(const engine::SweepRow& row, const engine::MeanSpread& value) {
    const QString mean = metricValue(row.metric, value.mean);
    if (row.finished < 2 || std::isnan(value.mean)) return mean;
    const QString deviation = metricValue(row.metric, value.spread);
    // One unit for both: "65.2 ± 3.9 %".
    const qsizetype digits = mean.lastIndexOf(QRegularExpression(u"\\d"_s)) + 1;
    const bool sameUnit = digits < mean.size() && deviation.endsWith(mean.mid(digits));
    return (sameUnit ? mean.left(digits) : mean) + u" ± "_s + deviation;
}

}  // namespace

SweepModel::SweepModel(QObject* parent) : RowModel(parent) {
    using engine::SweepRow;
    columns_ = {
        {tr("Settings"), [this](const SweepRow& row) { return pointText(row); }},
        {tr("Best"), [](const SweepRow& row) { return spread(row, row.best); }, true},
        {tr("Last"), [](const SweepRow& row) { return spread(row, row.last); }, true},
        {tr("Time"), [](const SweepRow& row) { return duration(row.wall_s.mean); }, true},
        {tr("Seeds"), [this](const SweepRow& row) { return seedsText(row); }, true}};
}

void SweepModel::setRows(std::int64_t seeds, std::vector<engine::SweepRow> rows) {
    seeds_ = seeds;
    shared_ = sharedTitles(rows);
    columns_[Settings].head = shared_.isEmpty() ? tr("Settings") : shared_.join(u" · "_s);
    RowModel::setRows(std::move(rows));
    emit headerDataChanged(Qt::Horizontal, Settings, Settings);
}

QStringList SweepModel::sharedTitles(const std::vector<engine::SweepRow>& rows) {
    const auto titlesOf = [](const engine::SweepRow& row) {
        QStringList titles;
        for (const LabelPart& part : labelParts(row.label)) titles << part.title;
        return titles;
    };
    if (rows.empty()) return {};
    const QStringList first = titlesOf(rows.front());
    const bool same = std::ranges::all_of(
        rows, [&](const engine::SweepRow& row) { return titlesOf(row) == first; });
    return same && !first.contains(QString()) ? first : QStringList();
}

QString SweepModel::pointText(const engine::SweepRow& row) const {
    if (shared_.isEmpty()) return settingsLabel(row.label);
    QStringList values;
    for (const LabelPart& part : labelParts(row.label)) values << part.value;
    return values.join(u" · "_s);
}

QString SweepModel::figure() const {
    const auto known = std::ranges::find_if(
        allRows(), [](const engine::SweepRow& row) { return !row.part.empty(); });
    if (known == allRows().end()) return {};
    const QString metric = metricInline(known->metric);
    return known->part == "validation" ? tr("validation %1").arg(metric)
                                       : tr("test %1").arg(metric);
}

QString SweepModel::seedsText(const engine::SweepRow& row) const {
    if (row.failed == 0) return u"%1/%2"_s.arg(row.finished).arg(seeds_);
    return tr("%1/%2, %3 failed").arg(row.finished).arg(seeds_).arg(row.failed);
}

QVariant SweepModel::value(const engine::SweepRow& row, int /*column*/, int role) const {
    return role == Qt::ToolTipRole ? tip(row) : QVariant();
}

}  // namespace ui
