#include "settings.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/comparison.h"
#include "engine/runs/settings_presets.h"

namespace app {

void report(const std::vector<engine::SettingError>& errors) {
    for (const auto& error : errors) std::cerr << engine::one_line(error.str()) << '\n';
}

std::optional<std::string> read_small_file(const std::string& file) {
    constexpr std::uintmax_t most_bytes = 1 << 20;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error) ||
        std::filesystem::file_size(file, error) > most_bytes || error) {
        return std::nullopt;
    }
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string file_or_preset(const std::string& name) {
    std::error_code error;
    if (std::filesystem::exists(name, error)) return name;
    const auto preset = engine::find_settings_preset(name);
    return preset ? preset->string() : name;
}

std::optional<engine::ParsedConfig> read_comparison(const std::string& file,
                                                    const std::vector<std::string>& overrides,
                                                    const std::string& otherwise, bool needs_data) {
    const auto json = file.empty() ? otherwise : read_small_file(file_or_preset(file));
    if (!json) {
        report({{"(file)", file,
                 engine::msg("use a JSON file with settings that can be read, of at most 1 "
                             "MiB, or the name of a preset that `halftone presets` lists")}});
        return std::nullopt;
    }
    engine::ParsedConfig parsed = engine::parse_run_config(*json, overrides);
    if (!needs_data && parsed.config.dataset.path.empty())
        std::erase_if(parsed.errors,
                      [](const auto& error) { return error.field == "dataset.path"; });
    report(parsed.errors);
    if (!parsed.errors.empty()) return std::nullopt;
    for (const auto& note : parsed.notes) std::cerr << "halftone: " << note.str() << '\n';
    return parsed;
}

std::optional<engine::RunConfig> read_settings(const std::string& file,
                                               const std::vector<std::string>& overrides,
                                               const std::string& otherwise, bool needs_data) {
    const auto parsed = read_comparison(file, overrides, otherwise, needs_data);
    if (!parsed) return std::nullopt;
    return parsed->config;
}

void report_left_out(const engine::RunConfig& config, const std::vector<std::string>& precisions) {
    for (const std::string& path : engine::overrides_left_out(config, precisions))
        std::cerr << "halftone: " << path
                  << " plays no part: the compared precisions bring their own\n";
}

void report_warnings(engine::RunStore& store) {
    for (const auto& warning : store.take_warnings())
        std::cerr << "halftone: " << warning.str() << '\n';
}

std::shared_ptr<engine::RunStore> open_store() {
    auto store = engine::RunStore::open(engine::RunStore::default_root());
    report_warnings(*store);
    return store;
}

}  // namespace app
