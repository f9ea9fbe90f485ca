#pragma once

#include <string>
#include <vector>

#include "engine/runs/run_fields.h"

namespace engine {

/// An empty text is unknown.
RunValue text_value(const std::string& value);

/// The value of a setting of a run; of an option that the settings leave out, its default. Unknown
/// where the path names nothing that the run has.
RunValue setting_of(const RunSummary& run, const std::string& path);

/// Appends a field for each setting and each option of any kind, and of the texts that these runs
/// have as their network.
void add_settings(std::vector<RunField>& fields, std::span<const RunSummary> runs);

}  // namespace engine
