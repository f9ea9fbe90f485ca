#include <algorithm>
#include <cmath>

#include "engine/base/plain_text.h"
#include "engine/runs/run_store.h"
#include "io/file/atomic_file.h"
#include "io/file/work_progress.h"
#include "record/event_json.h"
#include "runs/event_file.h"
#include "runs/run_folder.h"

namespace engine {
namespace {

constexpr std::int64_t rows_at_once = 4096;

/// The metrics of the steps of a run, by its folder.
std::vector<Metric> metrics_of(const std::filesystem::path& folder) {
    std::optional<std::vector<Metric>> found;
    EventFile(folder).for_each([&](Event&& event) {
        const auto* started = std::get_if<RunStarted>(&event);
        if (started != nullptr && !found) found = started->step_metrics;
    });
    return found.value_or(classification_metrics());
}

/// Columns for the metrics of all runs, each key once. Several runs may together have more of them
/// than one record.
struct MetricCells {
    std::vector<Metric> accuracy;  ///< which stands among the fields of the step, or nothing
    std::vector<Metric> others;    ///< behind them
};

MetricCells metric_cells(const std::vector<std::vector<Metric>>& of_runs) {
    MetricCells cells;
    for (const auto& metrics : of_runs) {
        for (const Metric& metric : metrics) {
            auto& group = metric.key == "accuracy" ? cells.accuracy : cells.others;
            const auto same = [&](const Metric& other) { return other.key == metric.key; };
            if (std::none_of(group.begin(), group.end(), same)) group.push_back(metric);
        }
    }
    return cells;
}

std::string header_line(const MetricCells& cells, bool raw) {
    std::string line;
    for_each_named_field(cells.accuracy, [&line](std::string_view name, auto) {
        line.append(line.empty() ? "" : ",").append(name);
    });
    for (const Metric& metric : cells.others) line.append(",").append(csv_cell(metric.key, raw));
    return line + "\n";
}

template <typename T>
void append_cell(std::string& out, std::string_view field, T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value)) {
            // An empty cell: not measured. Without the sign, which few programs read.
            if (nan_is_a_value(field)) out += "nan";
            return;
        }
    }
    out += shortest_text(value);
}

/// Empty for a metric that the run does not have. `metrics`: of the run.
void append_metric(std::string& out, const StepRecord& row, std::string_view key,
                   const std::vector<Metric>& metrics) {
    const auto own = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.key == key; });
    if (own == metrics.end()) return;
    append_cell(out, key,
                row.*metric_column(metrics, static_cast<std::size_t>(own - metrics.begin())));
}

/// Cells in the order of header_line(cells); `metrics`: of the run.
void append_row(std::string& out, const StepRecord& row, const MetricCells& cells,
                const std::vector<Metric>& metrics) {
    bool first = true;
    for_each_named_field(cells.accuracy, [&](std::string_view name, auto member) {
        if (!first) out += ',';
        first = false;
        if (name == "accuracy")
            append_metric(out, row, name, metrics);
        else
            append_cell(out, name, row.*member);
    });
    for (const Metric& metric : cells.others) {
        out += ',';
        append_metric(out, row, metric.key, metrics);
    }
    out += '\n';
}

/// A run that is exported.
struct Exported {
    StepRecordReader reader;
    std::vector<Metric> metrics;
};

Exported open_exported(const std::filesystem::path& folder) {
    return {StepRecordReader::open(folder), metrics_of(folder)};
}

/// Writes all rows of a record, each behind `prefix`.
void write_rows(AtomicFile& out, const Exported& run, const MetricCells& cells,
                const std::string& prefix, WorkCount& work) {
    const std::int64_t size = run.reader.size();
    std::vector<StepRecord> rows;
    for (std::int64_t first = 0; first < size; first += rows_at_once) {
        rows.resize(static_cast<std::size_t>(std::min(rows_at_once, size - first)));
        run.reader.rows(first, rows);
        std::string text;
        for (const auto& row : rows) {
            text += prefix;
            append_row(text, row, cells, run.metrics);
        }
        out.write(text);
        work.add(rows.size());
    }
}

}  // namespace

void export_csv(const std::filesystem::path& run_folder, const std::filesystem::path& file,
                bool raw) {
    const Exported run = open_exported(run_folder);
    AtomicFile out(file, NamedBy::person);
    const MetricCells cells = metric_cells({run.metrics});
    out.write(header_line(cells, raw));
    WorkCount work(static_cast<std::uint64_t>(run.reader.size()));
    write_rows(out, run, cells, {}, work);
    out.commit();
}

void export_csv(const std::vector<CsvRun>& runs, const std::filesystem::path& file, bool raw) {
    std::vector<Exported> exported;
    std::vector<std::vector<Metric>> metrics;
    std::uint64_t all = 0;
    for (const auto& run : runs) {
        exported.push_back(open_exported(run.folder));
        metrics.push_back(exported.back().metrics);
        all += static_cast<std::uint64_t>(exported.back().reader.size());
    }
    WorkCount work(all);
    const MetricCells cells = metric_cells(metrics);
    AtomicFile out(file, NamedBy::person);
    out.write("run," + header_line(cells, raw));
    for (std::size_t i = 0; i < runs.size(); ++i)
        write_rows(out, exported[i], cells, csv_cell(runs[i].name, raw) + ",", work);
    out.commit();
}

}  // namespace engine
