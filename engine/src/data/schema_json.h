#pragma once

#include <nlohmann/json.hpp>

#include "data/schema.h"

namespace engine {

/// A field as files have it; its transforms are left out.
nlohmann::ordered_json to_json(const FieldSpec& field);
/// Reads what to_json() wrote, and checks sizes, names, types. Throws std::invalid_argument, or
/// what nlohmann/json throws.
FieldSpec parse_field_spec(const nlohmann::json& object);

}  // namespace engine
