#include "engine/run_listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "store/config_fields.h"
#include "store/config_reader.h"
#include "store/json_number.h"
#include "store/stored_run.h"
#include "store/text_table.h"

namespace engine {
namespace {

using nlohmann::ordered_json;

ordered_json setting(const ordered_json& config, const std::string& path) {
    std::string pointer = "/" + path;  // options of a model lie two levels down
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const ordered_json::json_pointer at(pointer);
    return config.contains(at) ? config.at(at) : ordered_json();
}

/// "diverged at step 23" where the step is known.
std::string state_text(const RunSummary& run) {
    const bool where = run.state == "diverged" && run.diverged_at != 0;
    return where ? "diverged at step " + std::to_string(run.diverged_at) : run.state;
}

std::string changed_settings(const RunConfig& config) {
    const ordered_json settings = to_ordered_json(config);
    std::string out;
    for (const auto& path : differing_fields(config, RunConfig{}))
        out += "  " + path + " = " + setting(settings, path).dump() + '\n';
    return out.empty() ? "  none\n" : out;
}

std::string epochs_table(const std::vector<Event>& events) {
    std::vector<Cells> lines = {{"epoch", "step", "training loss", "training accuracy", "test loss",
                                 "test accuracy", "seconds"}};
    for (const auto& event : events) {
        const auto* epoch = std::get_if<EpochDone>(&event);
        if (epoch == nullptr) continue;
        lines.push_back(
            {std::to_string(epoch->epoch), std::to_string(epoch->step),
             number_text("%.4f", epoch->train_loss), number_text("%.4f", epoch->train_accuracy),
             number_text("%.4f", epoch->test_loss), number_text("%.4f", epoch->test_accuracy),
             number_text("%.1f", epoch->seconds)});
    }
    return lines.size() > 1 ? aligned(lines, 0) : "none ended\n";
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

std::string figures(const RunSummary& run) {
    const std::vector<Cells> lines = {
        {"state", state_text(run)},
        {"started", run.started},
        {"folder", run.folder.string()},
        {"data set", run.config.dataset.kind},
        {"model", run.config.model.kind},
        {"precision", run.config.precision.preset},
        {"steps", std::to_string(run.steps) + ", " + std::to_string(run.skipped) + " skipped"},
        {"test loss", number_text("%.4f", run.test_loss)},
        {"test accuracy", number_text("%.4f", run.test_accuracy)},
        {"training time", number_text("%.4g s", run.wall_s)},
        {"speed", number_text("%.0f samples/s", run.samples_per_s)},
        {"peak memory", number_text("%.4g MB", static_cast<double>(run.peak_bytes) / 1e6)}};
    std::string out = aligned(lines, 2);
    if (!run.title.empty()) out += "title: " + run.title + '\n';
    if (!run.tags.empty()) out += "tags: " + run.tags + '\n';
    if (!run.notes.empty()) out += "notes: " + run.notes + '\n';
    return out;
}

}  // namespace

std::optional<ListedRun> read_run_folder(const std::filesystem::path& folder) {
    if (!has_settings(folder)) return std::nullopt;
    StoredRun stored = read_stored_run(std::filesystem::canonical(folder));
    RunSummary& run = stored.summary;
    if (run.run.empty()) run.run = run.folder.filename().string();
    return ListedRun{std::move(run), std::move(stored.events)};
}

std::string to_json_line(const RunSummary& run) {
    const ordered_json object = {{"event", "run"},
                                 {"run", run.run},
                                 {"state", run.state},
                                 {"started", run.started},
                                 {"folder", run.folder.string()},
                                 {"steps", run.steps},
                                 {"skipped", run.skipped},
                                 {"test_loss", json_number(run.test_loss)},
                                 {"test_accuracy", json_number(run.test_accuracy)},
                                 {"wall_s", json_number(run.wall_s)},
                                 {"samples_per_s", json_number(run.samples_per_s)},
                                 {"peak_bytes", run.peak_bytes},
                                 {"diverged_at", run.diverged_at},
                                 {"title", run.title},
                                 {"tags", run.tags},
                                 {"notes", run.notes},
                                 {"config", to_ordered_json(run.config)}};
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string runs_table(const std::vector<RunSummary>& runs) {
    std::vector<Cells> lines = {{"run", "started", "state", "data set", "model", "precision",
                                 "steps", "skipped", "test loss", "test accuracy", "seconds"}};
    for (const auto& run : runs) {
        lines.push_back({run.run, run.started, state_text(run), run.config.dataset.kind,
                         run.config.model.kind, run.config.precision.preset,
                         std::to_string(run.steps), std::to_string(run.skipped),
                         number_text("%.4f", run.test_loss), number_text("%.4f", run.test_accuracy),
                         number_text("%.4g", run.wall_s)});
    }
    if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run.title.empty(); })) {
        lines.front().push_back("title");
        for (std::size_t i = 0; i < runs.size(); ++i) lines[i + 1].push_back(runs[i].title);
    }
    return aligned(lines, 6);
}

std::string run_page(const ListedRun& listed) {
    const RunSummary& run = listed.summary;
    std::string out = "Run " + run.run + "\n\n" + figures(run);
    out += "\nSettings that differ from the defaults\n" + changed_settings(run.config);
    out += "\nEpochs\n" + epochs_table(listed.events);
    const std::string wrong = problems(listed.events);
    if (!wrong.empty()) out += "\nWarnings and errors\n" + wrong;
    return out;
}

}  // namespace engine
