#include "runs/index_rows.h"

#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "record/event_json.h"
#include "record/json_number.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

void parse_metrics_of(RunSummary& run, const std::string& text) {
    try {
        const json object = read_json(text);
        run.unit = object.at("unit").get<std::string>();
        run.metrics = parse_metrics(object.at("metrics"));
        run.test.metrics.clear();
        if (!object.contains("test")) return;
        for (const auto& [key, value] : object.at("test").get_ref<const json::object_t&>())
            run.test.metrics.push_back({key, number_of(value)});
    } catch (const json::exception&) {
        throw DamagedDatabase{};
    }
}

RunOrigin parse_origin_of(const std::string& text) {
    try {
        return parse_origin(read_json(text));
    } catch (const json::exception&) {
        throw DamagedDatabase{};
    }
}

}  // namespace

const char* const select_runs =
    "SELECT runs.id, folder, started, state, steps, skipped, test_loss, test_accuracy, wall_s, "
    "samples_per_s, peak_bytes, settings.json, notes.text, tags.text, titles.text, "
    "COALESCE(divergences.step, 0), metrics.json, parents.parent, origins.json, "
    "stars.run IS NOT NULL, run_groups.id, COALESCE(group_numbers.number, 0) FROM runs "
    "LEFT JOIN settings ON settings.run = runs.id LEFT JOIN notes ON notes.run = runs.id "
    "LEFT JOIN tags ON tags.run = runs.id LEFT JOIN titles ON titles.run = runs.id "
    "LEFT JOIN divergences ON divergences.run = runs.id LEFT JOIN metrics ON metrics.run = runs.id "
    "LEFT JOIN parents ON parents.run = runs.id LEFT JOIN origins ON origins.run = runs.id "
    "LEFT JOIN stars ON stars.run = runs.id LEFT JOIN run_groups ON run_groups.run = runs.id "
    "LEFT JOIN group_numbers ON group_numbers.id = run_groups.id ";

std::string metrics_of(const RunSummary& run) {
    ordered_json object = {{"unit", run.unit}, {"metrics", metrics_json(run.metrics)}};
    for (const MetricValue& metric : run.test.metrics)
        object["test"][metric.key] = json_number(metric.value);
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

RunSummary read_summary(const Statement& row) {
    RunSummary run;
    run.run = row.text(0);
    run.folder = row.text(1);
    run.started = row.text(2);
    run.state = row.text(3);
    run.steps = row.integer(4);
    run.skipped = row.integer(5);
    run.test = {row.real(6), {{"accuracy", row.real(7)}}};
    run.wall_s = row.real(8);
    run.samples_per_s = row.real(9);
    run.peak_bytes = row.integer(10);
    const std::string settings = row.text(11);
    if (run.run.empty() || run.state.empty() || settings.empty()) throw DamagedDatabase{};
    run.config = parse_run_config(settings).config;
    run.notes = row.text(12);
    run.tags = row.text(13);
    run.title = row.text(14);
    run.diverged_at = row.integer(15);
    run.parent = row.text(17);
    // A run of an earlier version has the metrics of classification and no row of them.
    if (const std::string metrics = row.text(16); !metrics.empty()) parse_metrics_of(run, metrics);
    if (const std::string origin = row.text(18); !origin.empty())
        run.origin = parse_origin_of(origin);
    run.starred = row.integer(19) != 0;
    run.group = row.text(20);
    run.group_number = row.integer(21);
    return run;
}

}  // namespace engine
