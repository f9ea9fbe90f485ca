#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace engine {

/// A number as the events and listings have it: non-finite ones as "nan", "inf", "-inf".
inline nlohmann::ordered_json json_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

}  // namespace engine
