#include "settings.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

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
        std::ifstream in(file, std::ios::binary);
        if (!in || std::filesystem::is_directory(file)) {
            report({{"(file)", file,
                     engine::msg("must be a JSON file with settings that can be read")}});
            return std::nullopt;
        }
        json.assign(std::istreambuf_iterator<char>(in), {});
    }
    const engine::ParsedConfig parsed = engine::parse_run_config(json, overrides);
    report(parsed.errors);
    if (!parsed.errors.empty()) return std::nullopt;
    return parsed.config;
}

std::shared_ptr<engine::RunStore> open_store() {
    try {
        auto store = std::make_shared<engine::RunStore>(engine::RunStore::default_root());
        for (const auto& warning : store->take_warnings()) {
            std::cerr << "halftone: " << warning.str() << '\n';
        }
        return store;
    } catch (const engine::Error& error) {
        std::error_code none;
        std::string folder =
            (std::filesystem::temp_directory_path(none) / "halftone-XXXXXX").string();
        if (none || mkdtemp(folder.data()) == nullptr) throw;
        std::cerr << "halftone: " << error.what() << "; this run is kept in " << folder << '\n';
        return std::make_shared<engine::RunStore>(folder);
    }
}

}  // namespace app
