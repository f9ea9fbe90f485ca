#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/run_config.h"
#include "engine/run_store.h"

namespace app {

/// Reads CONFIG (empty: `otherwise`) with --set on top. On errors writes all of them to standard
/// error, one a line, and returns nothing.
std::optional<engine::RunConfig> read_settings(const std::string& file,
                                               const std::vector<std::string>& overrides,
                                               const std::string& otherwise = "{}");

/// Writes refused settings to standard error, one a line.
void report(const std::vector<engine::SettingError>& errors);

/// The user's run store; one in a temporary folder, with a warning, where the home cannot be
/// written.
std::shared_ptr<engine::RunStore> open_store();

}  // namespace app
