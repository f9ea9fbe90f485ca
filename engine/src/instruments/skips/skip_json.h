#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/instruments/skip_report.h"

namespace engine {

void to_json(nlohmann::ordered_json& out, const SkipReport& report);
/// Throws json::exception, or std::invalid_argument.
void from_json(const nlohmann::json& in, SkipReport& report);

}  // namespace engine
