#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// Settings with a name: of the user, a JSON file NAME.json in the folder of presets, or an example.
struct SettingsPreset {
    std::string name;
    std::filesystem::path file;  ///< empty: an example
    /// As parse_run_config() reads it; its errors say why the preset cannot be used. A data set
    /// whose path is left open is no error here.
    ParsedConfig parsed;
};

/// $XDG_CONFIG_HOME/halftone/presets, else ~/.config/halftone/presets.
std::filesystem::path settings_presets_folder();
/// Lists the presets by name, at most 500. A file that is too large, nested too deeply or not JSON
/// has an error.
std::vector<SettingsPreset> list_settings_presets();
/// The file of the preset; nothing if there is none, or if this cannot be a preset's name.
std::optional<std::filesystem::path> find_settings_preset(const std::string& name);
/// The settings that come with the program, by name.
std::vector<SettingsPreset> list_example_settings();
/// The text of an example; nothing if there is none of that name.
std::optional<std::string> find_example_settings(const std::string& name);
/// Writes the settings as a preset, in place of one of that name. Throws Error(settings) for a name
/// that no file can have, Error(io).
std::filesystem::path save_settings_preset(const std::string& name, std::string_view json);
/// Throws Error(io), also where there is no preset of that name.
void delete_settings_preset(const std::string& name);

}  // namespace engine
