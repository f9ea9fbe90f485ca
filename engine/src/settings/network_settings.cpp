#include <algorithm>
#include <cstdlib>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr char section[] = "model";

/// The lines that a document has; empty if it has none, or something else.
NetworkLines lines_in(const json& model) {
    SettingErrors ignored;
    ModelConfig out;
    const json document = {{section, model}};
    ConfigReader(document, out, ignored)("model.network", out.network);
    return out.network;
}

std::string word_in(const json& model, const char* name) {
    const auto found = model.find(name);
    return found != model.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const std::string& kind_of_texts() {
    static const auto found = std::ranges::find_if(models(), &ModelDescriptor::from_text);
    return found->kind;
}

bool is_of_text(const std::string& kind) {
    const ModelDescriptor* model = find_kind(models(), kind);
    return model != nullptr && model->from_text;
}

/// Removes options that the new text lacks, and those at the old text's default, which files write
/// for every option. Those that the overrides have set stay. Returns the names of options with a
/// value of their own.
std::vector<std::string> remove_old_options(json& model, const NetworkLines& old_lines,
                                            const std::set<std::string>& set) {
    const auto options = model.find("options");
    if (options == model.end() || !options->is_object() || set.contains("model.options")) return {};
    const std::string kind = word_in(model, "kind");
    const auto old_text = read_network(old_lines, kind), text = read_network(lines_in(model), kind);
    std::vector<std::string> lost;
    for (auto each = options->begin(); each != options->end();) {
        const OptionSpec* before = find_option(old_text->model.options, each.key());
        const bool own = find_option(text->model.options, each.key()) != nullptr;
        const bool usual =
            before != nullptr &&
            std::visit([&](const auto& value) { return *each == json(value); }, before->default_value);
        if (set.contains(option_path("model.options", each.key())) || (own && !usual)) {
            ++each;
            continue;
        }
        if (!usual) lost.push_back(option_path("model.options", each.key()));
        each = options->erase(each);
    }
    return lost;
}

}  // namespace

std::string with_home(std::string path) {
    const char* const home = std::getenv("HOME");
    if (home == nullptr || *home == '\0') return path;
    if (path == "~" || path.starts_with("~/")) path.replace(0, 1, home);
    return path;
}

std::vector<Message> take_network(json& document, const std::set<std::string>& set,
                                  SettingErrors& setting_errors) {
    const auto found = document.find(section);
    if (found == document.end() || !found->is_object()) return {};
    json& model = *found;
    const auto text = model.find("network");
    const bool no_text = text == model.end() || *text == "" || text->empty();
    const bool text_set = set.contains("model.network") && !no_text;
    const bool path_set = set.contains("model.path") && !word_in(model, "path").empty();
    if (path_set && text_set) {
        setting_errors.add("model.network", "given with model.path",
                           msg("set model.path or model.network, not both"));
        model.erase("path");
        return {};
    }
    NetworkLines old_lines;
    if (path_set || text_set) {
        if (path_set) old_lines = lines_in(model);
        model.erase(path_set ? "network" : "path");
        for (const char* field : {"sha256", "notation"}) {
            if (!set.contains(std::string("model.") + field)) model.erase(field);
        }
        if (!set.contains("model.kind") && !is_of_text(word_in(model, "kind")))
            model["kind"] = kind_of_texts();
    }
    const std::string path = word_in(model, "path");
    if (path.empty() || (model.contains("network") && !no_text) || !is_of_text(word_in(model, "kind")))
        return {};
    if (path.ends_with(".onnx") || path.ends_with(".ONNX")) {
        setting_errors.add("model.path", shown(path), msg("this is an ONNX model: write it as text first, with halftone network {} --to network -o NAME.network", path));
        return {};
    }
    try {
        model["network"] = read_network_file(with_home(path)).all;
    } catch (const Error& error) {
        setting_errors.add("model.path", shown(path), error.message());
        return {};
    }
    if (old_lines.empty()) return {};
    const auto lost = remove_old_options(model, old_lines, set);
    if (lost.empty()) return {};
    return {msg("Ignored, since the network of {} has no such options: {}.", path, join(lost))};
}

}  // namespace engine
