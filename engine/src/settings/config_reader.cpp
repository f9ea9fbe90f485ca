#include "settings/config_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "engine/settings/catalog.h"

namespace engine {
namespace {

using nlohmann::json;

/// JSON has no NaN: it is written as a word here as in the events (interfaces.md, section 3), so
/// that the range check can refuse it by its name.
std::optional<double> non_finite(const json& value) {
    if (!value.is_string()) return std::nullopt;
    const auto& word = value.get_ref<const std::string&>();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

std::optional<std::int64_t> whole_number(const json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return {};
        return static_cast<std::int64_t>(number);
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (!value.is_number_float()) return std::nullopt;
    const double number = value.get<double>();  // 1e3 is a whole number, too
    constexpr double exact = 9007199254740992.0;
    if (number != std::floor(number) || std::abs(number) > exact) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

/// A whole number of any size.
bool is_whole(const json& value) {
    if (!value.is_number_float()) return value.is_number();
    return value.get<double>() == std::floor(value.get<double>());
}

std::optional<OptionValue> option_value(const json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return value.get<double>();
    if (value.is_number()) {
        if (const auto number = whole_number(value)) return *number;
    }
    if (!value.is_array()) return std::nullopt;
    if (!value.empty() && value.front().is_string()) {
        const auto is_string = [](const json& item) { return item.is_string(); };
        if (!std::all_of(value.begin(), value.end(), is_string)) return std::nullopt;
        return value.get<std::vector<std::string>>();
    }
    std::vector<std::int64_t> numbers;
    for (const auto& item : value) {
        const auto number = whole_number(item);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

}  // namespace

std::string shown_json(const json& value) {
    return shortened(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::vector<std::string> take_compared(json& document, SettingErrors& setting_errors) {
    const auto section = document.find("compare");
    if (section == document.end()) return {};
    constexpr std::string_view field = "compare.precisions";
    const json value = section->is_object() && section->size() == 1
                           ? section->value("precisions", json())
                           : json();
    document.erase(section);
    std::vector<std::string> known;
    for (const auto& info : precisions()) known.push_back(info.kind);
    const auto is_known = [&known](const json& item) {
        if (!item.is_string()) return false;
        const auto& name = item.get_ref<const std::string&>();
        return std::find(known.begin(), known.end(), name) != known.end();
    };
    if (value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_known))
        return value.get<std::vector<std::string>>();
    setting_errors.add(field, shown_json(value), msg("use a list of presets from {}", join(known)));
    return {};
}

const json* ConfigReader::find(std::string_view path) const {
    const json* object = &document_;
    for (auto [section, rest] = split_path(path); !section.empty();
         std::tie(section, rest) = split_path(rest)) {
        const auto at = object->find(std::string(section));
        if (at == object->end() || !at->is_object()) return nullptr;
        object = &*at;
        path = rest;
    }
    const auto at = object->find(std::string(path));
    return at == object->end() ? nullptr : &*at;
}

void ConfigReader::refuse(std::string_view path, const json& value, Message allowed) {
    setting_errors_.add(path, shown_json(value), std::move(allowed));
}

void ConfigReader::read(std::string_view path, const json& value, bool& field) {
    if (!value.is_boolean()) return refuse(path, value, msg("use true or false"));
    field = value.get<bool>();
}

void ConfigReader::read(std::string_view path, const json& value, std::int64_t& field) {
    const auto number = whole_number(value);
    if (!number && is_whole(value)) {
        return refuse(path, value, msg("use a whole number that fits into 64 bits"));
    }
    if (!number) return refuse(path, value, msg("use a whole number"));
    field = *number;
}

void ConfigReader::read(std::string_view path, const json& value, double& field) {
    if (const auto number = non_finite(value)) {
        field = *number;
    } else if (value.is_number()) {
        field = value.get<double>();
    } else {
        refuse(path, value, msg("use a number"));
    }
}

void ConfigReader::read(std::string_view path, const json& value, std::string& field) {
    if (!value.is_string()) return refuse(path, value, msg("use a text in quotes"));
    field = value.get<std::string>();
}

void ConfigReader::read(std::string_view path, const json& value, std::vector<std::string>& field) {
    const auto is_string = [](const json& item) { return item.is_string(); };
    if (value.is_string()) {
        field.clear();
        if (!value.get_ref<const std::string&>().empty()) field.push_back(value.get<std::string>());
    } else if (value.is_array() && std::all_of(value.begin(), value.end(), is_string)) {
        field = value.get<std::vector<std::string>>();
    } else {
        refuse(path, value, msg("use a path in quotes, or a list of them"));
    }
}

void ConfigReader::read(std::string_view path, const json& value, Options& field) {
    if (!value.is_object()) return refuse(path, value, msg("use an object of options"));
    const OptionCatalog catalog(model_);
    for (const auto& [option, option_json] : value.items())
        read_option(std::string(path) + "." + option, option_json, catalog.any(path, option),
                    field[option]);
    std::erase_if(field, [&](const auto& item) {
        return setting_errors_.has(std::string(path) + "." + item.first);
    });
}

void ConfigReader::read(std::string_view path, const json& value, ForcedTypes& field) {
    if (value == "") return;  // none, as a text field has it
    if (!value.is_object())
        return refuse(path, value,
                      msg("use an object of modules and operations, each with a type"));
    for (const auto& [key, type] : value.items()) {
        const std::string full = std::string(path) + "." + key;
        ForcedType forced{};
        read(full, type, forced);
        if (!setting_errors_.has(full)) field[key] = forced;
    }
}

void ConfigReader::read(std::string_view path, const json& value, NetworkLines& field) {
    const auto is_line = [](const json& item) {
        return item.is_string() && item.get_ref<const std::string&>().find('\n') == std::string::npos;
    };
    if (value == "") return;  // none, as a text field has it
    if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_line))
        return refuse(path, value, msg("use a list of lines in quotes"));
    field.all = value.get<std::vector<std::string>>();
}

void ConfigReader::read(std::string_view path, const json& value, HistogramInterval& field) {
    if (value == "auto") {
        field = automatic_histograms;
    } else if (const auto steps = whole_number(value)) {
        field = *steps;
    } else {
        refuse(path, value, msg("use a whole number of steps, or auto"));
    }
}

void ConfigReader::read_option(const std::string& path, const json& value, const OptionSpec* spec,
                               OptionValue& option) {
    const bool number = spec != nullptr && std::holds_alternative<double>(spec->default_value);
    if (const auto special = number ? non_finite(value) : std::nullopt) {
        option = *special;
    } else if (auto read_value = option_value(value)) {
        option = std::move(*read_value);
    } else {
        refuse(path, value,
               spec != nullptr ? option_type(*spec)
                               : msg("use true or false, a number, a text, or a list of whole "
                                     "numbers or texts"));
    }
}

void ConfigReader::read_group(std::string_view path, Options& options) {
    const OptionCatalog catalog(model_);
    for (const std::string& name : catalog.names(path)) {
        const std::string full = std::string(path) + name;
        const json* value = find(full);
        if (value == nullptr) continue;
        OptionValue option;
        read_option(full, *value, catalog.any(path, name), option);
        if (!setting_errors_.has(full)) options[name] = std::move(option);
    }
}

}  // namespace engine
