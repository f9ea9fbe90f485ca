#include "benchmarks/benchmark_table.h"

#include <QCoreApplication>
#include <QStringList>

#include "engine/train/batch_finder.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "text/speedup_text.h"
#include "widgets/page_export.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct BenchmarkWords {
    Q_DECLARE_TR_FUNCTIONS(BenchmarkTable)
};

/// With as many digits as are needed to read the same number back.
QString exact(double value) { return QString::number(value, 'g', 17); }

QStringList csvHeads() {
    return {u"model"_s,
            u"dataset"_s,
            u"batch_size"_s,
            u"precision"_s,
            u"fp32_step_ms"_s,
            u"step_ms"_s,
            u"speed_up"_s,
            u"speed_up_least"_s,
            u"speed_up_most"_s,
            u"fp32_peak_bytes"_s,
            u"peak_bytes"_s,
            u"batch_memory"_s,
            u"fp32_largest_batch"_s,
            u"fp32_largest_batch_at_least"_s,
            u"largest_batch"_s,
            u"largest_batch_at_least"_s,
            u"pays"_s,
            u"reason"_s,
            u"why"_s,
            u"machine"_s,
            u"measured"_s};
}

QStringList csvFields(const BenchmarkResult& result) {
    const engine::Speedup& p = result.row;
    const bool batches = p.batch_memory > 0;
    const auto whole = [](std::int64_t value) { return QString::number(value); };
    const auto batch = [&](std::int64_t value) { return batches ? whole(value) : QString(); };
    const auto truth = [](bool holds) { return holds ? u"true"_s : u"false"_s; };
    // A size at which the search ends is a lower bound, as "≥" says in the window.
    const auto atLeast = [&](std::int64_t value) {
        return batches ? truth(value >= engine::max_batch_tried) : QString();
    };
    const auto text = [](const std::string& word) {
        return csvField(QString::fromStdString(word));
    };
    return {text(p.model),
            text(result.settings.dataset.kind),
            whole(p.batch_size),
            text(p.precision),
            exact(p.fp32_ms),
            exact(p.amp_ms),
            exact(p.speed_up),
            exact(p.least),
            exact(p.most),
            whole(p.fp32_bytes),
            whole(p.amp_bytes),
            batch(p.batch_memory),
            batch(p.fp32_largest_batch),
            atLeast(p.fp32_largest_batch),
            batch(p.largest_batch),
            atLeast(p.largest_batch),
            truth(p.pays()),
            text(engine::name(p.reason)),
            csvField(speedupSentence(p)),
            csvField(result.machine),
            result.when.toString(Qt::ISODate)};
}

QString csvLine(const QStringList& fields) { return fields.join(u',') + u'\n'; }

QString bar(const QStringList& cells) {
    QStringList escaped;
    for (QString cell : cells) escaped << cell.replace(u'|', u"\\|"_s);
    return u"| "_s + escaped.join(u" | "_s) + u" |\n"_s;
}

QStringList cellsOf(const BenchmarkResult& result) {
    const engine::Speedup& p = result.row;
    const auto both = [](const QString& fp32, const QString& other) {
        return BenchmarkWords::tr("%1, FP32 %2").arg(other, fp32);
    };
    return {speedupTitle(result.settings),
            precisionTitle(p.precision),
            both(milliseconds(p.fp32_ms), milliseconds(p.amp_ms)),
            timesText(p.speed_up),
            both(bytes(p.fp32_bytes), bytes(p.amp_bytes)),
            p.batch_memory > 0 ? BenchmarkWords::tr("%1 in %2")
                                     .arg(both(batchText(p.fp32_largest_batch), batchText(p.largest_batch)),
                                          bytes(p.batch_memory))
                               : unmeasured(),
            speedupSentence(p)};
}

}  // namespace

QString benchmarkCsv(const std::vector<BenchmarkResult>& results) {
    QString text = csvLine(csvHeads());
    for (const BenchmarkResult& result : results) text += csvLine(csvFields(result));
    return text;
}

QString benchmarkMarkdown(const std::vector<BenchmarkResult>& results) {
    QString text = bar({BenchmarkWords::tr("Model"), BenchmarkWords::tr("Precision"),
                        BenchmarkWords::tr("Step"), BenchmarkWords::tr("Speed-up"),
                        BenchmarkWords::tr("Peak memory"), BenchmarkWords::tr("Largest batch"),
                        BenchmarkWords::tr("Why")});
    text += u"| --- | --- | ---: | ---: | ---: | ---: | --- |\n"_s;
    for (const BenchmarkResult& result : results) text += bar(cellsOf(result));
    QStringList machines;
    for (const BenchmarkResult& result : results) {
        if (!machines.contains(result.machine)) machines << result.machine;
    }
    return text + u'\n' + BenchmarkWords::tr("Measured on %1.").arg(machines.join(u", "_s)) + u'\n';
}

}  // namespace ui
