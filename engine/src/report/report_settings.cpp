#include "report/report_settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/settings/catalog.h"
#include "record/event_json.h"

namespace engine {
namespace {

/// A run of another program has only the settings that say how numbers are kept.
bool has(const RunSummary& run, const std::string& path) {
    return !run.origin || path.starts_with("precision.") || path.starts_with("scaler.");
}

std::set<std::string> differing_paths(const std::vector<RunSummary>& runs) {
    std::set<std::string> out;
    for (auto first = runs.begin(); first != runs.end(); ++first) {
        for (auto second = first + 1; second != runs.end(); ++second) {
            for (auto& path : differing_fields(first->config, second->config)) {
                if (has(*first, path) && has(*second, path))
                    out.insert(std::move(path));
            }
        }
    }
    return out;
}

/// A value as its setting's title has it, without the quotes of JSON.
std::string value_title(const RunConfig& config, const std::string& path) {
    const std::string text = setting_text(config, path);
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? choice_title(path, text.substr(1, text.size() - 2)) : text;
}

}  // namespace

std::string choice_title(std::string_view path, const std::string& word) {
    const FieldInfo* info = find_field(path);
    if (info == nullptr) return word;
    const auto found = std::ranges::find(info->choices, word, &FieldChoice::value);
    return found == info->choices.end() || found->title.empty() ? word : found->title;
}

std::string shown_settings(const RunSummary& run) {
    if (!run.origin) return to_json(run.config);
    nlohmann::ordered_json told = origin_json(*run.origin);
    const nlohmann::ordered_json shared = settings_json(run.config, true);
    for (const auto& [name, value] : shared.items()) told[name] = value;
    return told.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ReportTable difference_table(const std::vector<RunSummary>& runs,
                             const std::vector<Report::Settings>& settings) {
    const auto paths = differing_paths(runs);
    if (paths.empty()) return {};
    ReportTable out{msg("Settings that differ"), {}};
    std::vector<Message>& head = out.rows.emplace_back(std::vector<Message>{msg("Setting")});
    for (const auto& run : settings) head.emplace_back(run.name);
    for (const std::string& path : paths) {
        const FieldInfo* info = find_field(path);
        const std::string title = info != nullptr && !info->label.empty() ? info->label : path;
        std::vector<Message>& row = out.rows.emplace_back(std::vector<Message>{title});
        for (const RunSummary& run : runs)
            row.emplace_back(has(run, path) ? value_title(run.config, path) : "–");
    }
    return out;
}

}  // namespace engine
