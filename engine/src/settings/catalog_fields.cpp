#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>

#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/setting_specs.h"

namespace engine {
namespace {

/// Properties that follow from the type of the field in RunConfig.
template <typename Field>
void add_type(FieldInfo& info, const Field&, const SettingSpec& spec) {
    if constexpr (std::is_same_v<Field, bool>) {
        info.choices = {{"true", "On"}, {"false", "Off"}};
    } else if constexpr (SettingWord<Field>) {
        for (const auto& word : setting_words<Field>)
            info.choices.push_back({std::string(word.name), std::string(word.title)});
    } else if (spec.range.choices != nullptr) {
        info.choices = spec.range.choices();
    }
    info.text = SettingWord<Field> || std::is_same_v<Field, std::string> ||
                std::is_same_v<Field, std::vector<std::string>>;
    info.path_kind = spec.range.path_kind;
}
template <typename Field>
void add_type(FieldInfo& info, const std::optional<Field>&, const SettingSpec& spec) {
    info.optional = true;
    add_type(info, Field{}, spec);
}

/// An option as one kind of its section describes it.
struct KindField {
    std::string kind;
    FieldInfo info;
};

FieldInfo option_field(std::string_view group, const OptionSpec& spec) {
    FieldInfo info{option_path(group, spec.name), spec.label, spec.help, spec.unit, spec.choices};
    if (std::holds_alternative<bool>(spec.default_value))
        info.choices = {{"true", "On"}, {"false", "Off"}};
    info.prominent = spec.prominent;
    info.text = std::holds_alternative<std::string>(spec.default_value) ||
                std::holds_alternative<std::vector<std::string>>(spec.default_value);
    if (spec.is_file) info.path_kind = PathKind::file;
    if (!spec.needs.empty()) info.needs = option_path(group, spec.needs);
    return info;
}

/// The options of the section's kinds, kind by kind; each names all kinds that have one of its
/// path.
std::vector<KindField> kind_fields(std::string_view group, const OptionCatalog& catalog) {
    std::vector<KindField> out;
    std::map<std::string, std::vector<std::string>> kinds;  // by path
    for (const auto& [kind, options] : catalog.by_kind(group)) {
        for (const OptionSpec& spec : options) {
            out.push_back({kind, option_field(group, spec)});
            kinds[out.back().info.path].push_back(kind);
        }
    }
    for (auto& each : out) each.info.kinds = kinds[each.info.path];
    return out;
}

/// A field for each path among the options of the section's kinds.
std::vector<FieldInfo> option_fields(std::string_view group) {
    std::vector<FieldInfo> out;
    for (auto& [kind, info] : kind_fields(group, OptionCatalog{ModelConfig{}})) {
        if (kind == info.kinds.front()) out.push_back(std::move(info));
    }
    return out;
}

}  // namespace

std::span<const FieldInfo> fields() {
    static const std::vector<FieldInfo> infos = [] {
        std::vector<FieldInfo> all;  // in the order of the settings
        for_each_setting(RunConfig{}, [&](const SettingSpec& spec, const auto& field) {
            if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Options>) {
                for (auto& info : option_fields(spec.path)) all.push_back(std::move(info));
            } else {
                all.push_back({spec.path, spec.label, spec.help, spec.unit});
                all.back().in_files = spec.place == SettingPlace::in_files;
                add_type(all.back(), field, spec);
            }
        });
        return all;
    }();
    return infos;
}

const FieldInfo* find_field(std::string_view path) {
    const auto all = fields();
    const auto found = std::ranges::find(all, path, &FieldInfo::path);
    return found == all.end() ? nullptr : &*found;
}

const FieldInfo* find_field(std::string_view path, std::string_view kind) {
    static const std::vector<KindField> options = [] {
        std::vector<KindField> all;
        RunConfig config;
        for (const auto& group : option_groups(config)) {
            for (auto& each : kind_fields(group.path, group.catalog)) all.push_back(std::move(each));
        }
        return all;
    }();
    const auto found = std::ranges::find_if(options, [&](const KindField& each) {
        return each.kind == kind && each.info.path == path;
    });
    return found == options.end() ? find_field(path) : &found->info;
}

namespace {

constexpr std::string_view model_options = "model.options";

bool brings_options(const RunConfig& config) {
    const auto model = find_model(config.model);
    return model != nullptr && model->from_text;
}

/// The options of the model's text; `kinds` names all kinds that have one of its path.
std::vector<FieldInfo> own_fields(const RunConfig& config) {
    std::vector<FieldInfo> out;
    for (auto& [kind, info] : kind_fields(model_options, OptionCatalog(config.model))) {
        if (kind == config.model.kind) out.push_back(std::move(info));
    }
    return out;
}

}  // namespace

std::shared_ptr<const FieldInfo> find_field(std::string_view path, const RunConfig& config) {
    if (path.starts_with(model_options) && brings_options(config)) {
        for (FieldInfo& info : own_fields(config)) {
            if (info.path == path) return std::make_shared<FieldInfo>(std::move(info));
        }
    }
    // Fields of the catalog live as long as the program.
    return {std::shared_ptr<const FieldInfo>(), find_field(path, chosen_kind(config, path))};
}

std::vector<FieldInfo> fields(const RunConfig& config) {
    const auto known = fields();
    std::vector<FieldInfo> all(known.begin(), known.end());
    if (!brings_options(config)) return all;
    for (FieldInfo& own : own_fields(config)) {
        const auto same = std::ranges::find(all, own.path, &FieldInfo::path);
        if (same != all.end()) {
            *same = std::move(own);
            continue;
        }
        const auto last = std::find_if(all.rbegin(), all.rend(), [](const FieldInfo& each) {
            return each.path.starts_with(model_options);
        });
        all.insert(last.base(), std::move(own));
    }
    return all;
}

}  // namespace engine
