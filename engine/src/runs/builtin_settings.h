#pragma once

#include <string_view>
#include <vector>

namespace engine {

/// A file of resources/settings.
struct BuiltinSettings {
    std::string_view name;  ///< "shapes.json"
    std::string_view text;
};
/// By name. Written by embed_texts.cmake.
const std::vector<BuiltinSettings>& builtin_settings_texts();

}  // namespace engine
