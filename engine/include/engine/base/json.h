#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace engine {

using nlohmann::json;
using nlohmann::ordered_json;

struct Table;

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

/// Null for NaN and infinity.
inline nlohmann::ordered_json finite_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

/// The text of a value. Paths and what is read from files may be any bytes, which JSON must not
/// hold: U+FFFD stands for them.
template <typename Json>
std::string dumped(const Json& value, int indent = -1) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// A list of objects, a column a key.
void to_json(nlohmann::ordered_json& out, const Table& table);

}  // namespace engine
