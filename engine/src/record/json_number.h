#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace engine {

/// A number as the events and listings have it: non-finite ones as "nan", "inf", "-inf".
inline nlohmann::ordered_json json_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

/// The number that json_number() wrote; NaN for anything else.
inline double number_of(const nlohmann::json& value) {
    if (value.is_number()) return value.get<double>();
    if (value == "inf") return std::numeric_limits<double>::infinity();
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace engine
