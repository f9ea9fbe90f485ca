#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "command_line.h"
#include "engine/settings/run_config.h"

namespace app {

/// Arguments of commands for one training step: CONFIG|RUN [STEP] and --set.
struct StepArguments {
    std::string what;
    std::int64_t step = 0;
    std::vector<std::string> overrides;

    /// The arguments must live as long as the command.
    void describe(Command& command);
};

/// A run's folder and one of its steps.
struct RunStep {
    std::filesystem::path folder;
    std::int64_t step;
};

/// Finds what the arguments name: settings, of which the first step is meant (a file, or no
/// argument), or a step of a run (anything else; by default the last step of its record). If it
/// does not exist, prints that on standard error. Throws Error(device) if the settings' device is
/// missing.
std::optional<std::variant<engine::RunConfig, RunStep>> find_step(const StepArguments& args);

}  // namespace app
