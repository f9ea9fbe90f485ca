#pragma once

#include <nlohmann/json_fwd.hpp>

#include "data/schema.h"

namespace engine {

/// A field as files have it; its transforms are left out.
void to_json(nlohmann::ordered_json& out, const FieldSpec& field);
/// Checks sizes, names, types. Throws std::invalid_argument, or what nlohmann/json throws.
void from_json(const nlohmann::json& in, FieldSpec& field);

}  // namespace engine
