#include "engine/settings/teach.h"

#include "settings/config_fields.h"

namespace engine {
namespace {

bool plays_a_part(const TeachConfig& teach, const std::string& path) {
    if (path == "teach.norm_epsilon") return teach.norm == TeachNorm::composed;
    const bool of_plant = path.starts_with("teach.plant.");
    return !of_plant || teach.plant.kind != PlantKind::none;
}

/// As on the command line: without the quotes of JSON.
std::string bare(std::string json) {
    if (json.size() >= 2 && json.front() == '"') json = json.substr(1, json.size() - 2);
    return json;
}

}  // namespace

std::vector<std::string> broken_on_purpose(const RunConfig& config) {
    std::vector<std::string> out;
    if (config.teach == TeachConfig{}) return out;
    RunConfig intact = config;
    intact.teach = {};
    const std::vector<std::string> differing = differing_fields(config, intact);
    for_each_setting(config, [&](const char* path, const auto&) {
        const bool differs = std::find(differing.begin(), differing.end(), path) != differing.end();
        if (differs && plays_a_part(config.teach, path))
            out.push_back(std::string(path) + '=' + bare(setting_text(config, path)));
    });
    return out;
}

std::string broken_on_purpose_text(const RunConfig& config) {
    return join(broken_on_purpose(config));
}

}  // namespace engine
