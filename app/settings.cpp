#include "settings.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "engine/error.h"

namespace app {

void report(const std::vector<engine::SettingError>& errors) {
    for (const auto& error : errors) std::cerr << error.str() << '\n';
}

std::optional<engine::RunConfig> read_settings(const std::string& file,
                                               const std::vector<std::string>& overrides,
                                               const std::string& otherwise) {
    std::string json = otherwise;
    if (!file.empty()) {
        std::ifstream in(file);
        std::ostringstream text;
        text << in.rdbuf();
        if (!in) {
            std::cerr << file
                      << ": the settings file cannot be read: give the path of a JSON file\n";
            return std::nullopt;
        }
        json = text.str();
    }
    const engine::ParsedConfig parsed = engine::parse_run_config(json, overrides);
    report(parsed.errors);
    if (!parsed.errors.empty()) return std::nullopt;
    return parsed.config;
}

std::shared_ptr<engine::RunStore> open_store() {
    try {
        return std::make_shared<engine::RunStore>(engine::RunStore::default_root());
    } catch (const engine::Error& error) {
        std::string folder = (std::filesystem::temp_directory_path() / "halftone-XXXXXX").string();
        if (mkdtemp(folder.data()) == nullptr) throw;
        std::cerr << "halftone: " << error.what() << " This run is kept in " << folder << ".\n";
        return std::make_shared<engine::RunStore>(folder);
    }
}

}  // namespace app
