#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "command_line.h"
#include "engine/runs/run_store.h"
#include "engine/settings/run_config.h"

namespace app {

/// The text of CONFIG: of the file if there is one, else of the user's preset of that name, or of an
/// example. A folder of that name does not count. Nothing if it cannot be read.
std::optional<std::string> read_named_settings(const std::string& name);

/// Reads CONFIG (empty: `otherwise`) with --set on top. Writes all errors to standard error, one a
/// line, and then returns nothing. Without `needs_data` a data set may lack its path.
std::optional<engine::RunConfig> read_settings(const std::string& file,
                                               const std::vector<std::string>& overrides,
                                               const std::string& otherwise = "{}",
                                               bool needs_data = true);

/// Reads settings with the precisions to compare, where the file names them.
std::optional<engine::ParsedConfig> read_comparison(const std::string& file,
                                                    const std::vector<std::string>& overrides,
                                                    const std::string& otherwise,
                                                    bool needs_data = true);

/// The text of a small file that the user named; nothing if it cannot be read. A FIFO or a device
/// could block or never end, so it counts as unreadable.
std::optional<std::string> read_small_file(const std::string& file);

/// Writes refused settings to standard error, one a line.
void report(const std::vector<engine::SettingError>& errors);

/// Writes to standard error which settings of the precision a comparison leaves out, if any.
void report_left_out(const engine::RunConfig& config, const std::vector<std::string>& precisions);

/// Writes what the store has mended to standard error.
void report_warnings(engine::RunStore& store);

/// The user's run store; if the home directory is not writable, one in a temporary folder, with a
/// warning.
std::shared_ptr<engine::RunStore> open_store();

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
