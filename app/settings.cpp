#include "settings.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/parallel/launch.h"
#include "engine/runs/comparison.h"
#include "engine/runs/settings_presets.h"
#include "engine/session/session.h"
#include "engine/settings/catalog.h"
#include "find_run.h"

namespace app {
namespace {

bool names_settings(const std::string& what) {
    std::error_code error;
    return what.empty() || std::filesystem::is_regular_file(what, error);
}

std::optional<RunStep> step_of_run(const StepArguments& args) {
    if (!args.overrides.empty()) {
        std::cerr << "halftone: --set: a step of a run has the run's settings\n";
        return std::nullopt;
    }
    const auto run = find_run(args.what);
    if (!run) return std::nullopt;
    const std::int64_t last = std::max<std::int64_t>(run->summary.steps, 1);
    return RunStep{run->summary.folder, args.step > 0 ? args.step : last};
}

}  // namespace

void report(const std::vector<engine::SettingError>& errors) {
    for (const auto& error : errors) std::cerr << engine::one_line(error.str()) << '\n';
}

std::optional<std::string> read_small_file(const std::string& file) {
    constexpr std::uintmax_t max_bytes = 1 << 20;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error) ||
        std::filesystem::file_size(file, error) > max_bytes || error) {
        return std::nullopt;
    }
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::optional<std::string> read_named_settings(const std::string& name) {
    std::error_code error;
    if (std::filesystem::exists(name, error) && !std::filesystem::is_directory(name, error)) return read_small_file(name);
    if (const auto preset = engine::find_settings_preset(name)) return read_small_file(preset->string());
    return engine::find_example_settings(name);
}

namespace {

/// The setting that a word chooses, "precision.preset" for "fp32", or "model.path" for a network; empty: none.
std::string setting_chosen_by(const std::string& word) {
    const auto names = [&word](const auto& all) { return std::ranges::any_of(all, [&word](const auto& each) { return each.kind == word; }); };
    if (word.ends_with(".network")) return "model.path";
    if (names(engine::precisions())) return "precision.preset";
    if (names(engine::models())) return "model.kind";
    if (names(engine::datasets())) return "dataset.kind";
    if (names(engine::optimizers())) return "optimizer.kind";
    return names(engine::scaler_presets()) ? "scaler.preset" : "";
}

engine::Message how_to_name_settings(const std::string& given) {
    if (const std::string chosen = setting_chosen_by(given); !chosen.empty())
        return engine::msg("is one setting: use --set {}={}", chosen, given);
    return engine::msg("use a JSON file with settings that can be read, of at most 1 MiB, or the name of settings that `halftone presets` lists");
}

}  // namespace

std::optional<engine::ParsedConfig> read_comparison(const std::string& file,
                                                    const std::vector<std::string>& overrides,
                                                    const std::string& otherwise, bool needs_data) {
    std::optional<std::string> json = otherwise;
    if (!file.empty()) json = file.ends_with(".network") ? std::nullopt : read_named_settings(file);
    if (!json) {
        report({{"(file)", file, how_to_name_settings(file)}});
        return std::nullopt;
    }
    engine::ParsedConfig parsed = engine::parse_run_config(*json, overrides);
    if (!needs_data && parsed.config.dataset.path.empty())
        std::erase_if(parsed.errors,
                      [](const auto& error) { return error.field == "dataset.path"; });
    report(parsed.errors);
    if (!parsed.errors.empty()) return std::nullopt;
    if (const auto note = engine::other_text_in_file(parsed.config.model); !note.empty())
        parsed.notes.push_back(note);
    if (engine::launched_rank().rank == 0)
        for (const auto& note : parsed.notes) std::cerr << "halftone: " << note.str() << '\n';
    return parsed;
}

std::optional<engine::RunConfig> read_settings(const std::string& file,
                                               const std::vector<std::string>& overrides,
                                               const std::string& otherwise, bool needs_data) {
    const auto parsed = read_comparison(file, overrides, otherwise, needs_data);
    if (!parsed) return std::nullopt;
    return parsed->config;
}

void report_left_out(const engine::RunConfig& config, const std::vector<std::string>& precisions) {
    for (const std::string& path : engine::overrides_left_out(config, precisions))
        std::cerr << "halftone: " << path
                  << " plays no part: the compared precisions bring their own\n";
}

void report_warnings(engine::RunStore& store) {
    for (const auto& warning : store.take_warnings())
        std::cerr << "halftone: " << warning.str() << '\n';
}

std::shared_ptr<engine::RunStore> open_store() {
    auto store = engine::RunStore::open(engine::RunStore::default_root());
    report_warnings(*store);
    return store;
}

void StepArguments::describe(Command& command) {
    command
        .text("CONFIG|RUN", what,
              "Settings, a JSON file: their first step; or a run, its number, title or folder")
        .not_empty();
    command.number("STEP", step, "Step of the run; without one, its last").within(0, INT64_MAX);
    command.repeated_text("--set", overrides, "path=value").takes("PATH=VALUE");
}

std::optional<std::variant<engine::RunConfig, RunStep>> find_step(const StepArguments& args) {
    if (!names_settings(args.what)) {
        if (auto step = step_of_run(args)) return *step;
        return std::nullopt;
    }
    const auto config = read_settings(args.what, args.overrides);
    if (!config) return std::nullopt;
    engine::check_device(*config);
    return *config;
}

}  // namespace app
