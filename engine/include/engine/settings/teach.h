#pragma once

#include <string>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// The settings of a run that are broken on purpose, as "path=value", in the order of the settings;
/// empty for an ordinary run. Leaves out settings without effect, such as the step of a fault that
/// is not planted.
std::vector<std::string> broken_on_purpose(const RunConfig& config);
/// These settings on one line: "teach.norm=composed, teach.plant.kind=nan-pixel"; empty for none.
std::string broken_on_purpose_text(const RunConfig& config);

}  // namespace engine
