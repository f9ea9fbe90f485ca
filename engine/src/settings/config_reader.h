#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "engine/settings/run_config.h"
#include "settings/config_fields.h"
#include "settings/setting_errors.h"
#include "settings/setting_specs.h"

namespace engine {

/// Bounds of settings, in a file or as one value.
inline constexpr JsonBounds settings_bounds{.bytes = std::size_t{4} << 20, .depth = 16};

/// Reads the values of fields from a JSON document. A value of the wrong type is an error and
/// leaves the field unchanged.
class ConfigReader {
public:
    /// `model`: of the settings that are read, which decide on the options.
    ConfigReader(const nlohmann::json& document, const ModelConfig& model,
                 SettingErrors& setting_errors)
        : document_(document), model_(model), setting_errors_(setting_errors) {}

    template <typename T>
    void operator()(const SettingSpec& spec, T& field) {
        operator()(std::string_view(spec.path), field);
    }
    template <typename T>
    void operator()(std::string_view path, T& field) {
        if constexpr (std::is_same_v<T, Options>) {
            if (is_option_group(path)) return read_group(path, field);
        }
        if (const nlohmann::json* value = find(path)) read(path, *value, field);
    }

private:
    const nlohmann::json* find(std::string_view path) const;
    void read_group(std::string_view path, Options& options);
    /// `spec`: of the option, or null for one that no kind has.
    void read_option(const std::string& path, const nlohmann::json& value, const OptionSpec* spec,
                     OptionValue& option);
    void read(std::string_view path, const nlohmann::json& value, bool& field);
    void read(std::string_view path, const nlohmann::json& value, std::int64_t& field);
    void read(std::string_view path, const nlohmann::json& value, double& field);
    void read(std::string_view path, const nlohmann::json& value, std::string& field);
    void read(std::string_view path, const nlohmann::json& value, std::vector<std::string>& field);
    template <SettingWord E>
    void read(std::string_view path, const nlohmann::json& value, E& field) {
        std::string word;
        read(path, value, word);
        if (setting_errors_.has(path)) return;
        if (const auto known = value_of_word<E>(word)) {
            field = *known;
        } else {
            std::vector<std::string> names;
            for (const auto& each : setting_words<E>)
                names.emplace_back(each.name.empty() ? "\"\"" : each.name);
            setting_errors_.add(path, shown(word), use_one_of(names, word));
        }
    }
    void read(std::string_view path, const nlohmann::json& value, Options& field);
    void read(std::string_view path, const nlohmann::json& value, ForcedTypes& field);
    void read(std::string_view path, const nlohmann::json& value, NetworkLines& field);
    void read(std::string_view path, const nlohmann::json& value, HistogramInterval& field);
    template <typename T>
    void read(std::string_view path, const nlohmann::json& value, std::optional<T>& field) {
        if (value.is_null()) return;
        if (std::is_same_v<T, std::int64_t> && value == "auto") return;
        T read_value{};
        read(path, value, read_value);
        if (!setting_errors_.has(path)) field = std::move(read_value);
    }
    void refuse(std::string_view path, const nlohmann::json& value, Message allowed);

    const nlohmann::json& document_;
    const ModelConfig& model_;
    SettingErrors& setting_errors_;
};

/// A JSON value as it stands in an error line.
std::string shown_json(const nlohmann::json& value);

/// Takes the "compare" section out of the document: the presets to compare, the baseline first.
std::vector<std::string> take_compared(nlohmann::json& document, SettingErrors& setting_errors);

/// Reports every field of the document that is not a setting, with the setting whose name is
/// nearest.
void refuse_unknown_fields(const nlohmann::json& document, SettingErrors& setting_errors);

/// Puts the overrides ("path=value") into the document. Returns the paths of the fields that they
/// set.
std::set<std::string> apply_overrides(nlohmann::json& document,
                                      const std::vector<std::string>& overrides,
                                      SettingErrors& setting_errors);

/// Brings the network's text into the document: a path that the overrides have `set` replaces the
/// text, a text without a path stays, and a path without a text is read. Options that belong to a
/// replaced text alone are removed; returns notes on these.
std::vector<Message> take_network(nlohmann::json& document, const std::set<std::string>& set,
                                  SettingErrors& setting_errors);
/// A leading "~" is the user's home folder.
std::string with_home(std::string path);

/// The JSON form of settings, fields in their order.
nlohmann::ordered_json to_ordered_json(const RunConfig& config);

}  // namespace engine
