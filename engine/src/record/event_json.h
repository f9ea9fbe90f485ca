#pragma once

#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "base/json_reader.h"
#include "engine/base/plain_text.h"
#include "engine/record/event.h"

namespace engine {

/// True if a NaN in this field of a step is a result (a loss that became NaN) and is written as
/// "nan". In other fields NaN means "not measured" and is left out.
bool nan_is_a_value(std::string_view field);

void to_json(nlohmann::ordered_json& out, const Metric& metric);
void from_json(const nlohmann::json& in, Metric& metric);
void to_json(nlohmann::ordered_json& out, const RunOrigin& origin);
/// Cuts texts to a length that can be shown.
void from_json(const nlohmann::json& in, RunOrigin& origin);

/// A value of a column of the record as JSON.
template <typename T>
void append_figure(std::string& out, T value) {
    if constexpr (std::is_same_v<T, std::uint8_t>)
        out += value != 0 ? "true" : "false";
    else if (std::isfinite(static_cast<double>(value)))
        out += shortest_text(value);
    else
        out += std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
}

/// The settings of a run; of one that another program trains those that both programs have.
nlohmann::ordered_json settings_json(const RunConfig& config, bool foreign);

/// Parses a line of to_json_line(Event). Nothing for a line that is cut off, damaged, of an unknown
/// kind, or a step.
std::optional<Event> parse_event(std::string_view line);

/// Bounds of one event. Even a list of paths as long as that has fewer values.
inline constexpr JsonBounds event_bounds{.bytes = std::size_t{1} << 20, .values = 50'000};

}  // namespace engine
