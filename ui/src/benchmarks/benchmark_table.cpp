#include "benchmarks/benchmark_table.h"

#include <QCoreApplication>
#include <QStringList>

#include "engine/train/batch_finder.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "text/speedup_text.h"

namespace ui {
namespace {

struct BenchmarkWords {
    Q_DECLARE_TR_FUNCTIONS(BenchmarkTable)
};

engine::Table::Row cellsOf(const BenchmarkResult& result) {
    const engine::Speedup& p = result.row;
    const auto both = [](const QString& fp32, const QString& other) {
        return BenchmarkWords::tr("%1, FP32 %2").arg(other, fp32);
    };
    const QString batches =
        p.batch_memory > 0 ? BenchmarkWords::tr("%1 in %2")
                                 .arg(both(batchText(p.fp32_largest_batch), batchText(p.largest_batch)),
                                      bytes(p.batch_memory))
                           : unmeasured();
    engine::Table::Row row;
    for (const QString& text :
         {speedupTitle(result.settings), precisionTitle(p.precision),
          both(milliseconds(p.fp32_ms), milliseconds(p.amp_ms)), timesText(p.speed_up),
          both(bytes(p.fp32_bytes), bytes(p.amp_bytes)), batches, speedupSentence(p)})
        row.emplace_back(text.toStdString());
    return row;
}

}  // namespace

engine::Table benchmarkTable(const std::vector<BenchmarkResult>& results) {
    engine::Table out{{"model", "dataset", "batch_size", "precision", "fp32_step_ms", "step_ms",
                       "speed_up", "speed_up_least", "speed_up_most", "fp32_peak_bytes",
                       "peak_bytes", "batch_memory", "fp32_largest_batch",
                       "fp32_largest_batch_at_least", "largest_batch", "largest_batch_at_least",
                       "pays", "reason", "why", "machine", "measured"}};
    // With as many digits as are needed to read the same number back.
    const auto exact = [](double value) { return engine::Cell(value, "%.17g"); };
    const auto truth = [](bool holds) { return holds ? "true" : "false"; };
    for (const BenchmarkResult& result : results) {
        const engine::Speedup& p = result.row;
        const auto batch = [&](std::int64_t value) {
            return p.batch_memory > 0 ? engine::Cell(value) : engine::Cell();
        };
        // A size at which the search ends is a lower bound, as "≥" says in the window.
        const auto atLeast = [&](std::int64_t value) {
            return p.batch_memory > 0 ? engine::Cell(truth(value >= engine::max_batch_tried))
                                      : engine::Cell();
        };
        out.rows.push_back({p.model, result.settings.dataset.kind, p.batch_size, p.precision,
                            exact(p.fp32_ms), exact(p.amp_ms), exact(p.speed_up), exact(p.least),
                            exact(p.most), p.fp32_bytes, p.amp_bytes, batch(p.batch_memory),
                            batch(p.fp32_largest_batch), atLeast(p.fp32_largest_batch),
                            batch(p.largest_batch), atLeast(p.largest_batch), truth(p.pays()),
                            name(p.reason), speedupSentence(p).toStdString(),
                            result.machine.toStdString(),
                            result.when.toString(Qt::ISODate).toStdString()});
    }
    return out;
}

QString benchmarkMarkdown(const std::vector<BenchmarkResult>& results) {
    engine::Table table;
    for (const QString& head : {BenchmarkWords::tr("Model"), BenchmarkWords::tr("Precision"),
                                BenchmarkWords::tr("Step"), BenchmarkWords::tr("Speed-up"),
                                BenchmarkWords::tr("Peak memory"),
                                BenchmarkWords::tr("Largest batch"), BenchmarkWords::tr("Why")})
        table.columns.push_back(head.toStdString());
    for (const BenchmarkResult& result : results) table.rows.push_back(cellsOf(result));
    QStringList machines;
    for (const BenchmarkResult& result : results) {
        if (!machines.contains(result.machine)) machines << result.machine;
    }
    return QString::fromStdString(to_markdown(table, 2)) + u'\n' + BenchmarkWords::tr("Measured on %1.").arg(machines.join(u", "_s)) + u'\n';
}

}  // namespace ui
