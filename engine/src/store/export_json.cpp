#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/export.h"
#include "engine/run_listing.h"
#include "file/atomic_file.h"
#include "store/event_json.h"
#include "store/stored_run.h"

namespace engine {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t values_at_once = 8192;

std::string dump(const ordered_json& value) {
    return value.dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Figures and settings as `halftone runs --json` has them, then the metrics and all events.
ordered_json head_of(const StoredRun& run, const std::vector<Metric>& step_metrics) {
    ordered_json head = ordered_json::parse(to_json_line(run.summary));
    head.erase("event");
    head["unit"] = run.summary.unit;
    head["metrics"] = metrics_json(run.summary.metrics);
    head["step_metrics"] = metrics_json(step_metrics);
    ordered_json epochs = ordered_json::array(), events = ordered_json::array();
    for (const Event& event : run.events) {
        ordered_json object = ordered_json::parse(to_json_line(event));
        object.erase("run");
        if (std::holds_alternative<EpochDone>(event)) {
            object.erase("event");
            epochs.push_back(std::move(object));
        } else {
            events.push_back(std::move(object));
        }
    }
    head["epochs"] = std::move(epochs);
    head["events"] = std::move(events);
    return head;
}

template <typename T>
void append_number(std::string& out, std::string_view field, T value) {
    if constexpr (std::is_same_v<T, std::uint8_t>) {
        out += value != 0 ? "true" : "false";
        return;
    } else {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(value)) {
                out += nan_is_a_value(field) ? "\"nan\"" : "null";
                return;
            }
            if (std::isinf(value)) {
                out += value > 0 ? "\"inf\"" : "\"-inf\"";
                return;
            }
        }
        std::array<char, 48> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        out.append(digits.data(), end);
    }
}

/// A column as a list, in pieces.
template <typename T>
void write_column(AtomicFile& file, const StepRecordReader& record, std::int64_t size,
                  std::string_view field, T StepRecord::*member) {
    std::vector<double> values;
    std::string text = "[";
    for (std::int64_t first = 0; first < size; first += values_at_once) {
        values.resize(static_cast<std::size_t>(std::min(values_at_once, size - first)));
        record.column(member, first, values);
        for (const double value : values) {
            if (text.back() != '[' || first > 0) text += ',';
            append_number(text, field, static_cast<T>(value));
        }
        file.write(text);
        text = " ";
    }
    file.write(text == "[" ? "[]" : "]");
}

}  // namespace

void export_json(const std::filesystem::path& run_folder, const std::filesystem::path& file) {
    const StepRecordReader record = StepRecordReader::open(run_folder);
    const std::int64_t size = record.size();
    const StoredRun run = read_stored_run(run_folder);
    std::vector<Metric> metrics = classification_metrics();
    for (const Event& event : run.events)
        if (const auto* started = std::get_if<RunStarted>(&event)) metrics = started->step_metrics;
    std::string head = dump(head_of(run, metrics));
    head.resize(head.rfind('\n'));  // without the last brace
    AtomicFile out(file, NamedBy::person);
    out.write(head + ",\n \"record\": {");
    bool first = true;
    for_each_named_field(metrics, [&](std::string_view field, auto member) {
        out.write((first ? "\n  " : ",\n  ") + ordered_json(field).dump() + ": ");
        first = false;
        write_column(out, record, size, field, member);
    });
    out.write("\n }\n}\n");
    out.commit();
}

}  // namespace engine
