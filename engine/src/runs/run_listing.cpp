#include "engine/runs/run_listing.h"

#include <algorithm>
#include <cmath>

#include "base/json_fields.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/number/figure_text.h"
#include "engine/runs/run_fields.h"
#include "engine/runs/run_group.h"
#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"
#include "record/event_json.h"
#include "runs/stored_run.h"
#include "settings/config_fields.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

/// "diverged at step 23" where the step is known; "running on HOST".
std::string state_text(const RunSummary& run) {
    if (is_silent(run)) {
        return run.host + " silent for " + std::to_string(std::lround(run.silent_s)) + " s";
    }
    const std::string running = run.paused ? "paused" : run.state;
    if (!run.host.empty()) return running + " on " + run.host;
    const bool where = run.state == "diverged" && run.diverged_at != 0;
    return where ? "diverged at step " + std::to_string(run.diverged_at) : running;
}

std::string settings_table(const RunSummary& run) {
    std::string out;
    for (const RunDifference& row : changed_settings(run))
        out += "  " + row.field + " = " + setting_text(run.config, row.field) + '\n';
    return out.empty() ? "  none\n" : out;
}

/// Settings of a run of another program: those that it gives, and those that both programs have.
std::string settings_of_origin(const RunOrigin& origin, const RunSummary& run) {
    std::string out;
    const auto add = [&](const std::string& name, const std::string& value) {
        out += "  " + one_line(name) + " = " + one_line(value) + '\n';
    };
    if (!origin.optimizer.empty()) add("optimizer", origin.optimizer);
    for (const auto& [name, value] : origin.settings) add(name, value);
    return out + settings_table(run);
}

std::string epochs_table(const std::vector<Event>& events, const std::vector<Metric>& metrics) {
    Table table{{"epoch", "step"}};
    for (const std::string part : {"training ", "test "}) {
        table.columns.push_back(part + "loss");
        for (const Metric& metric : metrics) table.columns.push_back(part + metric.key);
    }
    table.columns.emplace_back("seconds");
    for (const auto& event : events) {
        const auto* epoch = std::get_if<EpochDone>(&event);
        if (epoch == nullptr) continue;
        Table::Row& row = table.rows.emplace_back(Table::Row{epoch->epoch, epoch->step});
        for (const PartFigures* part : {&epoch->train, &epoch->test}) {
            row.emplace_back(part->loss, "%.4f");
            for (const Metric& metric : metrics) row.emplace_back(part->of(metric.key), "%.4f");
        }
        row.emplace_back(epoch->seconds, "%.1f");
    }
    return table.rows.empty() ? "none ended\n" : to_text(table, 0);
}

std::string problems(const std::vector<Event>& events) {
    std::string out;
    for (const auto& event : events) {
        if (const auto* warning = std::get_if<RunWarning>(&event)) {
            out += "  " + warning->message.str() + '\n';
        }
        if (const auto* error = std::get_if<RunFailed>(&event)) {
            out += "  " + error->message.str() + '\n';
            if (!error->hint.empty()) out += "  " + error->hint.str() + '\n';
        }
    }
    return out;
}

/// Unit of speed; of a run of another program by what it calls its samples.
std::string run_speed_unit(const RunSummary& run) {
    return run.origin ? run.unit + "/s" : speed_unit(run.config);
}

/// 0 is written by a program that does not report its memory.
std::string memory_text(const RunSummary& run) {
    if (run.origin && run.peak_bytes == 0) return "-";
    return bytes_text(run.peak_bytes);
}

/// The lines after the first are moved to the right, so that none reads as a line of the page.
std::string indented(const std::string& text) {
    std::string out;
    for (const char c : printable(text)) out += c == '\n' ? std::string("\n  ") : std::string(1, c);
    return out;
}

/// The figures of the last step, and the mean of the last 20.
void add_training_figures(std::vector<Table::Row>& lines, const KeyFigures& now) {
    lines.push_back({"loss, last 20", Cell(now.loss_last_20, "%.4g")});
    lines.push_back({"loss at the last step", Cell(now.loss, "%.4g")});
    if (!std::isnan(now.scale_now) && now.scale_now != 1)
        lines.push_back({"scale now", power_value_text(now.scale_now)});
}

std::string figures(const RunSummary& run) {
    Table table{{"state", state_text(run)}};
    std::vector<Table::Row>& lines = table.rows;
    lines = {
        {"started", run.started},
        {"folder", run.folder.string()},
        {"data set", dataset_name(run)},
        {"model", model_name(run)},
        {"precision", run.config.precision.preset},
        {"steps", std::to_string(run.steps) + ", " + std::to_string(run.skipped) + " skipped"},
        {"test loss", Cell(run.test.loss, "%.4f")}};
    const KeyFigures now = figures_of_run(run.folder);
    add_training_figures(lines, now);
    for (const Metric& metric : run.metrics)
        lines.push_back({"test " + metric.key, Cell(run.test.of(metric.key), "%.4f")});
    lines.push_back({"training time", Cell(run.wall_s, "%.4g s")});
    lines.push_back({"mean speed", std::isnan(run.samples_per_s) ? "-"
                                                                 : figure_text(run.samples_per_s) +
                                                                       ' ' + run_speed_unit(run)});
    lines.push_back({"peak memory", memory_text(run)});
    const auto add_energy = [&](const char* name, double joules) {
        if (!std::isnan(joules)) lines.push_back({name, energy_text(joules)});
    };
    add_energy("GPU energy", now.card_joules);
    add_energy("CPU energy", now.cpu_joules);
    if (run.disk_bytes > 0) lines.push_back({"size on disk", bytes_text(run.disk_bytes)});
    if (!run.parent.empty()) lines.push_back({"continues run", one_line(run.parent)});
    if (run.origin) lines.push_back({"written by", run.origin->program});
    if (const auto broken = broken_on_purpose_text(run.config); !broken.empty())
        lines.push_back({"broken on purpose", broken});
    if (run.group_number > 0)
        lines.push_back(
            {"belongs to", group_title(run).str() + " (" + group_name(run.group_number) + ")"});
    std::string out = to_text(table, 2);
    if (run.starred) out += "starred\n";
    if (!run.title.empty()) out += "title: " + one_line(run.title) + '\n';
    if (!run.tags.empty()) out += "tags: " + one_line(run.tags) + '\n';
    if (!run.notes.empty()) out += "notes: " + indented(run.notes) + '\n';
    return out;
}

}  // namespace

std::optional<ListedRun> read_run_folder(const std::filesystem::path& folder,
                                         const EventFilter& keep) {
    if (!has_settings(folder)) return std::nullopt;
    StoredRun stored = read_stored_run(std::filesystem::canonical(folder), keep);
    RunSummary& run = stored.summary;
    if (run.run.empty()) run.run = run.folder.filename().string();
    return ListedRun{std::move(run), std::move(stored.events)};
}

KeyFigures figures_of_run(const std::filesystem::path& folder) {
    FigureEvents events;
    try {
        EventFile(folder).for_each([&](Event&& event) { events.apply(event); });
        return key_figures(StepRecordReader::open(folder), events);
    } catch (const Error&) {
        return key_figures(FigureRows{}, events);
    }
}

namespace {

ordered_json run_object(const RunSummary& run) {
    ordered_json object = {{"event", "run"}};
    const FieldWriter f{object};
    f("run", run.run, "state", run.state, "started", run.started, "folder", run.folder.string(),
      "steps", run.steps, "skipped", run.skipped, "test_loss", run.test.loss, "wall_s", run.wall_s,
      "samples_per_s", run.samples_per_s, "peak_bytes", run.peak_bytes,
      "diverged_at", run.diverged_at, "title", run.title, "tags", run.tags, "notes", run.notes,
      "starred", run.starred, "group", run.group, "group_number", run.group_number,
      "config", settings_json(run.config, run.origin.has_value()));
    f.unless("origin", run.origin, std::nullopt);
    f.unless("parent", run.parent, "");
    f.unless("disk_bytes", run.disk_bytes, 0);
    if (!run.host.empty()) f("host", run.host, "silent_s", run.silent_s);
    f.unless("paused", run.paused, false);
    f.unless("teach", broken_on_purpose(run.config), std::vector<std::string>());
    for (const Metric& metric : run.metrics)
        object["test_" + metric.key] = json_number(run.test.of(metric.key));
    return object;
}

}  // namespace

std::string to_json_line(const RunSummary& run) { return dumped(run_object(run)); }

std::string show_json_line(const RunSummary& run, const KeyFigures& figures) {
    ordered_json object = run_object(run);
    FieldWriter{object}("updates", figures.updates, "last_loss", figures.loss,
                        "loss_last_20", figures.loss_last_20, "scale_now", figures.scale_now,
                        "headroom_bits", figures.headroom_bits, "growths", figures.growths,
                        "ms_per_step", figures.step_ms);
    return dumped(object);
}

namespace {

std::string primary_key(const RunSummary& run) {
    return run.metrics.empty() ? std::string() : run.metrics.front().key;
}

/// The key of the primary metric of all runs; empty if they have different ones.
std::string common_key(const std::vector<RunSummary>& runs) {
    const std::string key = runs.empty() ? std::string() : primary_key(runs.front());
    const bool common = std::all_of(runs.begin(), runs.end(),
                                    [&](const RunSummary& run) { return primary_key(run) == key; });
    return common ? key : std::string();
}

/// The primary metric on the test part, with its key where the runs have different ones.
std::string primary_text(const RunSummary& run, bool with_key) {
    const double value = run.test.of(primary_key(run));
    const std::string text = number_text("%.4f", value);
    return with_key && !std::isnan(value) ? primary_key(run) + " " + text : text;
}

}  // namespace

std::string runs_table(const std::vector<RunSummary>& runs) {
    const std::string key = common_key(runs);
    Table table{{"run", "started", "state", "data set", "model", "precision", "steps", "skipped",
                 "test loss", "test " + (key.empty() ? "metric" : key), "seconds"}};
    for (const auto& run : runs) {
        table.rows.push_back({run.run, run.started, state_text(run), dataset_name(run),
                              model_name(run), run.config.precision.preset, run.steps, run.skipped,
                              Cell(run.test.loss, "%.4f"), primary_text(run, key.empty()),
                              Cell(run.wall_s, "%.4g")});
    }
    const auto add = [&](const char* head, auto text) {
        if (std::ranges::all_of(runs, [&](const auto& run) { return text(run).empty(); })) return;
        table.columns.emplace_back(head);
        for (std::size_t i = 0; i < runs.size(); ++i) table.rows[i].emplace_back(text(runs[i]));
    };
    add("on disk", [](const RunSummary& run) {
        return run.disk_bytes > 0 ? bytes_text(run.disk_bytes) : std::string();
    });
    add("group", [](const RunSummary& run) {
        return run.group_number > 0 ? group_name(run.group_number) : std::string();
    });
    add("broken on purpose",
        [](const RunSummary& run) { return broken_on_purpose_text(run.config); });
    add("starred", [](const RunSummary& run) { return std::string(run.starred ? "*" : ""); });
    add("title", [](const RunSummary& run) { return run.title; });
    add("tags", [](const RunSummary& run) { return run.tags; });
    return to_text(table, 6);
}

namespace {

/// Fields down, runs across.
std::string side_by_side(const std::vector<RunSummary>& runs,
                         const std::vector<RunDifference>& rows) {
    Table table{{""}};
    for (const RunSummary& run : runs)
        table.columns.push_back(run.title.empty() ? run.run : run.title);
    for (const RunDifference& row : rows) {
        Table::Row& cells = table.rows.emplace_back(Table::Row{row.field});
        for (const auto& value : row.values) cells.push_back(value.empty() ? Cell() : value);
    }
    return to_text(table, 1);
}

ordered_json rows_json(const std::vector<RunDifference>& rows) {
    ordered_json out = ordered_json::object();
    for (const RunDifference& row : rows) out[row.field] = row.values;
    return out;
}

}  // namespace

std::string runs_page(const std::vector<RunSummary>& runs) {
    const auto settings = differing_settings(runs);
    return "Settings that differ\n" +
           (settings.empty() ? std::string("  none\n") : side_by_side(runs, settings)) +
           "\nResults\n" + side_by_side(runs, compare_results(runs));
}

std::string differences_json(const std::vector<RunSummary>& runs) {
    ordered_json ids = ordered_json::array();
    for (const RunSummary& run : runs) ids.push_back(run.run);
    const ordered_json object = {{"event", "differences"},
                                 {"runs", ids},
                                 {"settings", rows_json(differing_settings(runs))},
                                 {"results", rows_json(compare_results(runs))}};
    return dumped(object);
}

bool is_on_run_page(const Event& event) {
    return std::holds_alternative<EpochDone>(event) || std::holds_alternative<RunWarning>(event) ||
           std::holds_alternative<RunFailed>(event);
}

namespace {

/// Settings that a later version wrote, which the page's others stand without.
std::string rejected_settings(const RunSummary& run) {
    std::string out;
    for (const SettingError& error : parse_run_config(read_text(run.folder / config_file)).errors)
        out += "  " + one_line(error.str()) + '\n';
    return out.empty() ? out : "\nSettings that this version does not take\n" + out;
}

}  // namespace

std::string run_page(const ListedRun& listed) {
    const RunSummary& run = listed.summary;
    std::string out = "Run " + one_line(run.run) + "\n\n" + figures(run);
    out += run.origin ? "\nSettings\n" + settings_of_origin(*run.origin, run)
                      : "\nSettings that differ from the defaults\n" + settings_table(run) +
                            rejected_settings(run);
    out += "\nEpochs\n" + epochs_table(listed.events, run.metrics);
    const std::string wrong = problems(listed.events);
    if (!wrong.empty()) out += "\nWarnings and errors\n" + wrong;
    return out;
}

}  // namespace engine
