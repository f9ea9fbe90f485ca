#include "engine/runs/settings_presets.h"

#include <algorithm>

#include "base/platform/regular_file.h"
#include "base/platform/this_user.h"
#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "runs/builtin_settings.h"
#include "settings/config_reader.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr char preset_ending[] = ".json";
constexpr std::size_t max_presets = 500;
constexpr std::size_t max_preset_name = 200;  // bytes; file systems take 255

/// A name that stays inside the folder, and that a listing shows.
bool is_preset_name(const std::string& name) {
    const bool bad = std::ranges::any_of(name, [](char c) {
        return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    return !bad && !name.empty() && name.size() <= max_preset_name && name.front() != '.';
}

fs::path file_of(const std::string& name) {
    return settings_presets_folder() / (name + preset_ending);
}

SettingsPreset make_preset(const std::string& name, const fs::path& file, std::string_view text) {
    SettingsPreset out{name, file, parse_run_config(text)};
    std::erase_if(out.parsed.errors, [&](const SettingError& error) {
        return error.field == "dataset.path" && out.parsed.config.dataset.path.empty();
    });
    return out;
}

/// Nothing for what is no regular file, or cannot be read.
std::optional<SettingsPreset> read_preset(const fs::path& file) {
    const auto text = read_regular_file(file, settings_bounds.bytes + 1);
    if (!text) return std::nullopt;
    return make_preset(file.stem().string(), file, *text);
}

}  // namespace

fs::path settings_presets_folder() {
    return user_folder("XDG_CONFIG_HOME", ".config") / "halftone" / "presets";
}

std::vector<SettingsPreset> list_settings_presets() {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(settings_presets_folder(), error), end; !error && at != end;
         at.increment(error)) {
        const fs::path& file = at->path();
        if (file.extension() == preset_ending && is_preset_name(file.stem().string()))
            files.push_back(file);
    }
    std::ranges::sort(files);
    std::vector<SettingsPreset> out;
    for (const fs::path& file : files) {
        if (out.size() == max_presets) break;
        if (auto preset = read_preset(file)) out.push_back(std::move(*preset));
    }
    return out;
}

std::optional<fs::path> find_settings_preset(const std::string& name) {
    if (!is_preset_name(name)) return std::nullopt;
    fs::path file = file_of(name);
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return std::nullopt;
    return file;
}

std::vector<SettingsPreset> list_example_settings() {
    std::vector<SettingsPreset> out;
    for (const BuiltinSettings& each : builtin_settings_texts())
        out.push_back(make_preset(fs::path(each.name).stem().string(), {}, each.text));
    return out;
}

std::optional<std::string> find_example_settings(const std::string& name) {
    for (const BuiltinSettings& each : builtin_settings_texts())
        if (each.name == name + preset_ending) return std::string(each.text);
    return std::nullopt;
}

fs::path save_settings_preset(const std::string& name, std::string_view json) {
    if (!is_preset_name(name)) {
        throw Error(ErrorCode::settings, msg("\"{}\" cannot be the name of a preset.", name),
                    msg("Use a name without slashes that does not begin with a dot."));
    }
    std::error_code error;
    fs::create_directories(settings_presets_folder(), error);  // a failure shows when it is written
    const fs::path file = file_of(name);
    write_named_file(file, json);
    return file;
}

void delete_settings_preset(const std::string& name) {
    const auto file = find_settings_preset(name);
    std::error_code error;
    if (!file || !fs::remove(*file, error)) {
        throw Error(ErrorCode::io, msg("The preset {} cannot be deleted.", name),
                    msg("Check that you may write to {}.", settings_presets_folder().string()));
    }
}

}  // namespace engine
