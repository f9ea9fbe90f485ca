#include "engine/settings/command_line.h"

#include <algorithm>
#include <map>

#include "base/text_utf8.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

using nlohmann::ordered_json;

/// A field and its value in JSON.
using Field = std::pair<std::string, ordered_json>;

void add_fields(const std::string& prefix, const ordered_json& object, std::vector<Field>& out) {
    for (const auto& [name, value] : object.items()) {
        if (value.is_object()) {
            add_fields(prefix + name + ".", value, out);
        } else {
            out.emplace_back(prefix + name, value);
        }
    }
}

/// Whether the field follows from others: what the program writes beside a network's text, and the
/// text where the settings name its file.
bool follows(const RunConfig& config, const std::string& path) {
    return path == "model.sha256" || path == "model.notation" ||
           (path == "model.network" && !config.model.path.empty());
}

/// Every field that is set, in the order of the settings.
std::vector<Field> list_fields(const RunConfig& config) {
    std::vector<Field> out;
    add_fields("", to_ordered_json(config), out);
    std::erase_if(out, [&](const Field& field) { return follows(config, field.first); });
    return out;
}

/// Whether the field is a choice that changes the defaults of other fields.
bool is_choice(const std::string& path) {
    return path.ends_with(".kind") || path == "scaler.preset";
}

/// A text is written bare unless it would be read as JSON, or lose the blanks at its ends.
std::string value_text(const ordered_json& value) {
    const auto dump = [](const ordered_json& json) {
        return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    };
    if (!value.is_string()) return dump(value);
    const auto& text = value.get_ref<const std::string&>();
    const bool blanks = !text.empty() && (is_space(text.front()) || is_space(text.back()));
    return blanks || ordered_json::accept(text) ? dump(value) : text;
}

/// The fields that differ, as arguments; `wanted` says which of them.
template <typename Wanted>
void add_differing(const std::vector<Field>& fields, const RunConfig& from, Wanted&& wanted,
                   std::vector<std::string>& out) {
    std::map<std::string, ordered_json> usual;
    for (auto& [path, value] : list_fields(from)) usual.emplace(path, std::move(value));
    for (const auto& [path, value] : fields) {
        if (!wanted(path)) continue;
        const auto at = usual.find(path);
        if (at == usual.end() || at->second != value) out.push_back(path + '=' + value_text(value));
    }
}

std::string quoted(const std::string& word) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
    std::string out = "'";
    for (const char c : word) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + "'";
}

}  // namespace

std::vector<std::string> to_overrides(const RunConfig& config) {
    const auto fields = list_fields(config);
    std::vector<std::string> out;
    add_differing(fields, RunConfig{}, is_choice, out);
    RunConfig same_choices = parse_run_config("{}", out).config;
    same_choices.model.network = config.model.network;  // has the defaults of its options
    if (config.model.path.empty() && !config.model.network.empty())
        out.push_back("model.network=" + value_text(ordered_json(config.model.network.all)));
    add_differing(
        fields, same_choices, [](const std::string& path) { return !is_choice(path); }, out);
    return out;
}

std::string to_command_line(const RunConfig& config) {
    std::string line = "halftone train";
    for (const std::string& override_text : to_overrides(config))
        line += " --set " + quoted(override_text);
    return line;
}

}  // namespace engine
