#include "step_arguments.h"

#include <algorithm>
#include <iostream>

#include "engine/session/session.h"
#include "find_run.h"
#include "settings.h"

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

void StepArguments::describe(Command& command) {
    command
        .text("CONFIG|RUN", what,
              "Settings, a JSON file: their first step; or a run, its number, title or folder")
        .not_empty();
    command.number("STEP", step, "Step of the run; without one, its last").within(0, INT64_MAX);
    command.repeated_text("--set", overrides, "path=value");
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
