#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/json_reader.h"
#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The document, or a discarded value after refusing the file as a whole.
json parse_document(std::string_view text, SettingErrors& setting_errors) {
    JsonFault fault;
    json document = read_json(text, settings_bounds, &fault);
    switch (fault.kind) {
        case JsonFault::Kind::none:
            if (document.is_object()) return document;
            setting_errors.add("(file)", shown_json(document),
                               msg("use an object of settings in braces"));
            break;
        case JsonFault::Kind::repeated:
            for (const auto& path : fault.repeated)
                setting_errors.add(path, "given twice", msg("a field can be given only once"));
            break;
        case JsonFault::Kind::too_deep:
            setting_errors.add("(file)", "nested brackets",
                               msg("settings are not nested that deep"));
            break;
        case JsonFault::Kind::too_large:
            setting_errors.add("(file)", std::to_string(text.size()) + " bytes",
                               msg("settings are not that long"));
            break;
        case JsonFault::Kind::number:
            setting_errors.add("(file)", shown("'" + fault.reason + "'"),
                               msg("use a number that fits into 64 bits"));
            break;
        case JsonFault::Kind::syntax:
            setting_errors.add("(file)", fault.place, msg("not JSON: {}", fault.reason));
            break;
    }
    return json(json::value_t::discarded);
}

/// Presets and data sets come first: they fill fields that are not given.
void fill_from_presets(ConfigReader& reader, RunConfig& config) {
    reader("dataset.kind", config.dataset.kind);
    const DatasetDescriptor* data = find_dataset(config.dataset.kind);
    if (data != nullptr && data->usual_batch > 0) config.batch_size = data->usual_batch;
    reader("scaler.preset", config.scaler.preset);
    if (const auto* preset = find_kind(scaler_presets(), config.scaler.preset))
        config.scaler = preset->settings;
}

bool is_default_somewhere(const OptionGroup& group, const std::string& name,
                          const OptionValue& value) {
    const auto kinds = group.catalog.by_kind(group.path);
    return std::any_of(kinds.begin(), kinds.end(), [&](const KindOptions& kind) {
        const OptionSpec* spec = find_option(kind.options, name);
        return spec != nullptr && check_option(*spec, value).empty() &&
               to_string(spec->default_value) == to_string(value);
    });
}

/// Takes a text and its options away if the chosen kind does not use them. Returns its fields.
std::vector<std::string> take_foreign_text(ModelConfig& model) {
    const auto kind = find_model(model);
    if (kind == nullptr || kind->from_text) return {};
    std::vector<std::string> ignored;
    if (!model.network.empty()) {
        for (const OptionSpec& spec : read_network(model.network)->model.options) {
            if (find_option(kind->options, spec.name) == nullptr) model.options.erase(spec.name);
        }
    }
    const auto take = [&](auto& field, const char* path) {
        if (field == std::decay_t<decltype(field)>{}) return;
        ignored.emplace_back(path);
        field = {};
    };
    take(model.path, "model.path");
    take(model.network, "model.network");
    take(model.sha256, "model.sha256");
    take(model.notation, "model.notation");
    return ignored;
}

/// Options of kinds that are not chosen. Drops those at a default, which older files write for
/// every kind; keeps the others without using them, and returns a note for each.
std::vector<Message> set_foreign_options_aside(RunConfig& config) {
    std::vector<std::string> ignored = take_foreign_text(config.model);
    for (const OptionGroup& group : option_groups(config)) {
        const auto own = group.own();
        std::erase_if(group.options, [&](const auto& item) {
            const auto& [name, value] = item;
            if (find_option(own, name) != nullptr || group.catalog.any(group.path, name) == nullptr)
                return false;
            if (is_default_somewhere(group, name, value)) return true;
            ignored.push_back(group.path_of(name));
            return false;
        });
    }
    if (ignored.empty()) return {};
    return {msg("Ignored, since the current choice of their section does not use them: {}.",
                join(ignored))};
}

ordered_json to_value(bool value) { return value; }
ordered_json to_value(std::int64_t value) { return value; }
ordered_json to_value(const std::string& value) { return value; }
ordered_json to_value(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}
ordered_json to_value(const std::vector<std::string>& paths) {
    if (paths.empty()) return "";
    if (paths.size() == 1) return paths.front();
    return paths;
}
ordered_json to_value(const Options& options) {
    ordered_json object = ordered_json::object();
    for (const auto& [option, value] : options) {
        const double* number = std::get_if<double>(&value);
        object[option] = number != nullptr
                             ? to_value(*number)
                             : std::visit([](const auto& v) { return ordered_json(v); }, value);
    }
    return object;
}
ordered_json to_value(const NetworkLines& network) { return network.all; }
ordered_json to_value(const HistogramInterval& interval) {
    return interval.automatic ? ordered_json("auto") : ordered_json(interval.steps);
}
template <SettingWord E>
ordered_json to_value(E value) {
    return word_of(value);
}
ordered_json to_value(const ForcedTypes& forced) {
    ordered_json object = ordered_json::object();
    for (const auto& [key, type] : forced) object[key] = to_value(type);
    return object;
}
template <typename T>
ordered_json to_value(const std::optional<T>& value) {
    return value ? to_value(*value) : ordered_json();
}

/// Every field but overrides that are not set, by its path; options one by one.
std::map<std::string, std::string> flat(const RunConfig& config) {
    std::map<std::string, std::string> out;
    for_each_setting(completed(config), [&out](const SettingSpec& spec, const auto& field) {
        const std::string path = spec.path;
        const ordered_json value = to_value(field);
        if (value.is_null()) return;
        if (!value.is_object()) {
            out[path] = value.dump(-1, ' ', false, json::error_handler_t::replace);
            return;
        }
        const std::string prefix = is_option_group(path) ? path : path + ".";
        for (const auto& [option, item] : value.items()) {
            out[prefix + option] = item.dump(-1, ' ', false, json::error_handler_t::replace);
        }
    });
    return out;
}

}  // namespace

ParsedConfig parse_run_config(std::string_view text, const std::vector<std::string>& overrides) {
    ParsedConfig parsed;
    SettingErrors setting_errors;
    json document = parse_document(text, setting_errors);
    if (document.is_discarded()) {
        parsed.config = completed(RunConfig{});
        parsed.errors = setting_errors.take();
        return parsed;
    }
    parsed.compared = take_compared(document, setting_errors);
    const auto set = apply_overrides(document, overrides, setting_errors);
    parsed.notes = take_network(document, set, setting_errors);
    refuse_unknown_fields(document, setting_errors);
    SettingErrors scratch;  // a bad preset is refused once, by the full reading below
    ConfigReader preset_reader(document, parsed.config.model, scratch);
    fill_from_presets(preset_reader, parsed.config);
    ConfigReader reader(document, parsed.config.model, setting_errors);
    for_each_setting(parsed.config, reader);
    for_each_path(parsed.config, [](std::string& path) { path = with_home(std::move(path)); });
    parsed.config = completed(std::move(parsed.config));
    for (Message& note : set_foreign_options_aside(parsed.config))
        parsed.notes.push_back(std::move(note));
    if (const auto ignored = ignored_of_recipes(parsed.config); !ignored.empty())
        parsed.notes.push_back(
            msg("Ignored, since the recipe does not use them: {}.", join(ignored)));
    check_config(parsed.config, setting_errors);
    parsed.errors = setting_errors.take();
    return parsed;
}

std::vector<SettingError> replaced_settings(const ParsedConfig& parsed) {
    std::vector<SettingError> out = parsed.errors;
    const auto held = validate(parsed.config);
    std::erase_if(out, [&](const SettingError& error) {
        return std::ranges::any_of(held, [&](const SettingError& each) {
            return each.field == error.field && each.value == error.value;
        });
    });
    return out;
}

ordered_json to_ordered_json(const RunConfig& config) {
    ordered_json document = ordered_json::object();
    for_each_setting(completed(config), [&document](const SettingSpec& spec, const auto& field) {
        const std::string_view path = spec.path;
        ordered_json value = to_value(field);
        if (value.is_null()) return;  // an override that is not set
        if (std::is_same_v<std::decay_t<decltype(field)>, ForcedTypes> && value.empty()) return;
        const bool given = field != std::decay_t<decltype(field)>{};
        if (spec.place != SettingPlace::everywhere && !given) return;
        ordered_json* place = &document;
        auto [section, name] = split_path(path);
        for (; !section.empty(); std::tie(section, name) = split_path(name))
            place = &(*place)[std::string(section)];
        if (is_option_group(path)) {
            for (const auto& [option, item] : value.items()) (*place)[option] = item;
            return;
        }
        (*place)[std::string(name)] = std::move(value);
    });
    return document;
}

std::string to_json(const RunConfig& config, const std::vector<std::string>& compared) {
    ordered_json document = to_ordered_json(config);
    if (!compared.empty()) document["compare"]["precisions"] = compared;
    return document.dump(2, ' ', false, json::error_handler_t::replace);
}

std::string setting_text(const RunConfig& config, const std::string& path) {
    const auto fields = flat(config);
    const auto found = fields.find(path);
    return found == fields.end() ? std::string() : found->second;
}

std::vector<std::string> differing_fields(const RunConfig& a, const RunConfig& b) {
    const auto left = flat(a);
    auto right = flat(b);
    std::vector<std::string> paths;
    for (const auto& [path, value] : left) {
        const auto other = right.find(path);
        if (other == right.end() || other->second != value) paths.push_back(path);
        if (other != right.end()) right.erase(other);
    }
    for (const auto& [path, value] : right) paths.push_back(path);
    return paths;
}

}  // namespace engine
