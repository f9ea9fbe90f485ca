#include <cmath>

#include "engine/base/json.h"
#include "engine/runs/export.h"
#include "engine/runs/run_listing.h"
#include "io/file/atomic_file.h"
#include "io/file/work_progress.h"
#include "record/event_json.h"
#include "runs/stored_run.h"

namespace engine {
namespace {

constexpr std::int64_t values_at_once = 8192;

/// Figures and settings as `halftone runs --json` has them, then the metrics.
ordered_json head_of(const RunSummary& run, const std::vector<Metric>& step_metrics) {
    ordered_json head = ordered_json::parse(to_json_line(run));
    head.erase("event");
    head["unit"] = run.unit;
    head["metrics"] = run.metrics;
    head["step_metrics"] = step_metrics;
    return head;
}

/// The lines of a value that stands at the second level of the file.
std::string moved_in(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c;
        if (c == '\n') out += "  ";
    }
    return out;
}

/// The evaluations, or all other events, as a list that is written one by one.
void write_events(AtomicFile& file, const EventFile& events, bool epochs) {
    bool first = true;
    events.for_each([&](Event&& event) {
        if (std::holds_alternative<EpochDone>(event) != epochs) return;
        ordered_json object = ordered_json::parse(to_json_line(event));
        object.erase("run");
        if (epochs) object.erase("event");
        file.write((first ? "[\n  " : ",\n  ") + moved_in(dumped(object, 1)));
        first = false;
    });
    file.write(first ? "[]" : "\n ]");
}

/// A column as a list, in pieces.
template <typename T>
void write_column(AtomicFile& file, const StepRecordReader& record, std::int64_t size,
                  std::string_view field, T StepRecord::*member, WorkCount& work) {
    std::vector<double> values;
    std::string text = "[";
    for (std::int64_t first = 0; first < size; first += values_at_once) {
        values.resize(static_cast<std::size_t>(std::min(values_at_once, size - first)));
        record.column(member, first, values);
        for (const double value : values) {
            if (text.back() != '[' || first > 0) text += ',';
            if (std::isnan(value) && !nan_is_a_value(field))
                text += "null";
            else
                append_figure(text, static_cast<T>(value));
        }
        file.write(text);
        work.add(values.size());
        text = " ";
    }
    file.write(text == "[" ? "[]" : "]");
}

}  // namespace

void export_json(const std::filesystem::path& run_folder, const std::filesystem::path& file) {
    const StepRecordReader record = StepRecordReader::open(run_folder);
    const std::int64_t size = record.size();
    const StoredRun run = read_stored_run(run_folder, keep_no_event);
    const EventFile events(run_folder);
    const auto started = last_start(run_folder);
    const std::vector<Metric> metrics = started ? started->step_metrics : classification_metrics();
    std::string head = dumped(head_of(run.summary, metrics), 1);
    head.resize(head.rfind('\n'));  // without the last brace
    AtomicFile out(file, NamedBy::person);
    out.write(head + ",\n \"epochs\": ");
    write_events(out, events, true);
    out.write(",\n \"events\": ");
    write_events(out, events, false);
    out.write(",\n \"record\": {");
    std::uint64_t columns = 0;
    for_each_named_field(metrics, [&](std::string_view, auto) { ++columns; });
    WorkCount work(columns * static_cast<std::uint64_t>(size));
    bool first = true;
    for_each_named_field(metrics, [&](std::string_view field, auto member) {
        out.write((first ? "\n  " : ",\n  ") + ordered_json(field).dump() + ": ");
        first = false;
        write_column(out, record, size, field, member, work);
    });
    out.write("\n }\n}\n");
    out.commit();
}

}  // namespace engine
