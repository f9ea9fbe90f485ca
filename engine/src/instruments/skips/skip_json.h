#pragma once

#include <nlohmann/json.hpp>

#include "engine/instruments/skip_report.h"

namespace engine {

nlohmann::ordered_json to_json(const SkipReport& report);
nlohmann::ordered_json to_json(const StepTrial& trial);
nlohmann::ordered_json to_json(const BadTensor& tensor);
/// Throws Error(data).
SkipReport skip_report_from(const nlohmann::json& json);

}  // namespace engine
