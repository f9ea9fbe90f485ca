#pragma once

#include <string>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// Errors of settings, a sentence each.
inline std::vector<std::string> error_lines(const std::vector<SettingError>& errors) {
    std::vector<std::string> out;
    for (const auto& error : errors) out.push_back(error.str());
    return out;
}
inline std::vector<std::string> error_lines(const ParsedConfig& parsed) {
    return error_lines(parsed.errors);
}

}  // namespace engine
