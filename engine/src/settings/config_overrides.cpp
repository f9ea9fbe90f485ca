#include <algorithm>
#include <charconv>

#include "base/text_utf8.h"
#include "engine/base/near_name.h"
#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr std::string_view options_prefix = "model.options.";
constexpr std::string_view force_path = "precision.force";

/// "precision.force.layer1.0.conv1": behind the third dot is a key, whatever dots it has.
bool is_force_key(std::string_view path) {
    return path.starts_with(force_path) && path.size() > force_path.size() + 1 &&
           path[force_path.size()] == '.';
}

/// The known field names, to find unknown ones.
struct KnownNames {
    std::vector<std::string> paths;
    std::vector<std::string> sections;
    std::vector<std::string> word_paths;  ///< of fields that hold text
    std::vector<std::string> null_paths;  ///< of fields that may be null

    KnownNames() {
        for (const FieldInfo& info : fields()) {
            const bool of_model = info.path.starts_with(options_prefix);
            const std::string path = of_model ? "model.options" : info.path;
            if (has(paths, path)) continue;
            paths.push_back(path);
            if (info.text && !of_model) word_paths.push_back(path);
            if (info.optional) null_paths.push_back(path);
            add_sections(path);
        }
    }

    /// "teach" and "teach.plant" of "teach.plant.kind".
    void add_sections(std::string_view path) {
        for (auto dot = path.find('.'); dot != std::string_view::npos;
             dot = path.find('.', dot + 1)) {
            const std::string section(path.substr(0, dot));
            if (!has(sections, section)) sections.push_back(section);
        }
    }

    static bool has(const std::vector<std::string>& names, std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    }

    /// The field meant by an unknown one: a field of that name in the section that is spelt most
    /// like it ("lr": optimizer.lr, "modl.kind": model.kind), else one of the same section, else any.
    std::string nearest(std::string_view path) const {
        const auto [section, name] = split_path(path);
        std::vector<std::string> near_ones, named;
        for (const auto& known : paths) {
            if (split_path(known).first == section) near_ones.push_back(known);
            if (split_path(known).second == name) named.push_back(known);
        }
        if (!named.empty()) return by_likeness(path, named).front();
        if (section.empty()) near_ones.insert(near_ones.end(), sections.begin(), sections.end());
        const std::string found = nearest_name(path, near_ones);
        return found.empty() ? nearest_name(path, paths) : found;
    }

    Message allowed(std::string_view path) const {
        const std::string near_one = nearest(path);
        if (near_one.empty()) return msg("there is no such field");
        return msg("there is no such field; did you mean {}?", near_one);
    }
};

void refuse_unknown_of_section(const std::string& section, const json& value,
                               const KnownNames& known, SettingErrors& setting_errors) {
    if (!value.is_object()) {
        const std::string choice = section + (known.has(known.paths, section + ".preset") ? ".preset" : ".kind");
        constexpr std::size_t longest_name = 40;
        const bool is_name = value.is_string() && value.get_ref<const std::string&>().size() <= longest_name && known.has(known.paths, choice);
        setting_errors.add(section, shown_json(value), is_name ? msg("use an object with fields, for instance {}={}", choice, value.get_ref<const std::string&>())
                                                               : msg("use an object with fields"));
        return;
    }
    for (const auto& [name, field] : value.items()) {
        if (setting_errors.is_full()) return;
        const std::string path = section + "." + name;
        if (known.has(known.sections, path))
            refuse_unknown_of_section(path, field, known, setting_errors);
        else if (!known.has(known.paths, path))
            setting_errors.add(path, shown_json(field), known.allowed(path));
    }
}

std::string without_blanks(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return std::string(text);
}

/// A number that JSON writes differently: .1, 1., +0.1, +.5e3. Discarded if the text is none.
json loose_number(std::string_view text) {
    const json none(json::value_t::discarded);
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return none;
    }
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    if (digits.empty() || !(is_digit(digits.front()) || digits.front() == '.')) return none;
    std::int64_t whole = 0;
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto read = [&](auto& value) {
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        return error == std::errc() && stopped == end;
    };
    if (read(whole)) return whole;
    return read(number) ? json(number) : none;
}

/// JSON if it is JSON, a number if it reads as one, else a text. A text field takes a bare number,
/// flag or null as the text it is, but null where the field may be null.
json override_value(const std::string& text, bool word, bool may_be_null) {
    json value = read_json(text, settings_bounds);
    if (value.is_discarded() && !word) value = loose_number(text);
    const bool text_meant =
        word && (value.is_number() || value.is_boolean() || (value.is_null() && !may_be_null));
    return value.is_discarded() || text_meant ? json(text) : value;
}

void put(json& document, const std::string& path, json value) {
    json* place = &document;
    std::size_t from = 0;
    const std::size_t key = is_force_key(path) ? force_path.size() : std::string::npos;
    for (auto dot = path.find('.'); dot != std::string::npos && from <= key;
         dot = path.find('.', from)) {
        place = &(*place)[path.substr(from, dot - from)];
        if (!place->is_object()) *place = json::object();  // the override wins over a bad section
        from = dot + 1;
    }
    json& target = (*place)[path.substr(from)];
    if (target.is_object() && value.is_object() && path != force_path) {
        target.update(value);
    } else {
        target = std::move(value);
    }
}

}  // namespace

void refuse_unknown_fields(const json& document, SettingErrors& setting_errors) {
    const KnownNames known;
    for (const auto& [name, value] : document.items()) {
        if (setting_errors.is_full()) return;
        const bool dotted = name.find('.') != std::string::npos;
        if (!dotted && known.has(known.sections, name)) {
            refuse_unknown_of_section(name, value, known, setting_errors);
        } else if (dotted && known.has(known.paths, name)) {
            const auto [section, field] = split_path(name);
            setting_errors.add(name, shown_json(value),
                               msg("in a file, write {} inside the object {}", std::string(field),
                                   std::string(section)));
        } else if (dotted || !known.has(known.paths, name)) {
            setting_errors.add(name, shown_json(value), known.allowed(name));
        }
    }
}

std::set<std::string> apply_overrides(json& document, const std::vector<std::string>& overrides,
                                      SettingErrors& setting_errors) {
    std::set<std::string> set;
    const KnownNames known;
    for (const auto& text : overrides) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            setting_errors.add("--set", shown(text),
                               msg("use path=value, such as optimizer.lr=0.01"));
            continue;
        }
        const std::string path = without_blanks(std::string_view(text).substr(0, equals));
        const std::string value = without_blanks(std::string_view(text).substr(equals + 1));
        const bool option = path.starts_with(options_prefix) &&
                            path.size() > options_prefix.size() &&
                            path.find('.', options_prefix.size()) == std::string::npos;
        if (!option && !is_force_key(path) && !known.has(known.paths, path) &&
            !known.has(known.sections, path)) {
            setting_errors.add(path, shown(value), known.allowed(path));
            continue;
        }
        json read = override_value(value, known.has(known.word_paths, path),
                                   known.has(known.null_paths, path));
        set.insert(path);
        if (read.is_object()) {
            for (const auto& [name, field] : read.items()) set.insert(path + '.' + name);
        }
        put(document, path, std::move(read));
    }
    return set;
}

}  // namespace engine
