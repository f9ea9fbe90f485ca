#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "command_line.h"
#include "engine/run_config.h"

namespace app {

/// CONFIG|RUN [STEP] and --set, of commands that look at one training step.
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

/// The settings whose first step is meant, or a step of a run: the last of its record where none is
/// given. A file, or nothing, names settings; everything else a run. Where there is no such thing,
/// says so on standard error. Throws Error(device) where the settings' device is not there.
std::optional<std::variant<engine::RunConfig, RunStep>> find_step(const StepArguments& args);

}  // namespace app
