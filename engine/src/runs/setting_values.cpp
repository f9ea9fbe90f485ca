#include "runs/setting_values.h"

#include <algorithm>

#include "engine/base/plain_text.h"
#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/setting_specs.h"

namespace engine {
namespace {

using ValueKind = RunField::Kind;

RunValue as_value(bool value) { return value; }
RunValue as_value(std::int64_t value) { return value; }
RunValue as_value(double value) { return value; }
RunValue as_value(const std::string& value) { return text_value(value); }
template <SettingWord E>
RunValue as_value(E value) {
    return word_of(value);
}
template <typename T>
RunValue as_value(const std::optional<T>& value) {
    return value ? as_value(*value) : RunValue{};
}
RunValue as_value(const std::vector<std::string>& values) {
    return text_value(join(values, ","));
}
RunValue as_value(const std::vector<std::int64_t>& values) {
    return text_value(join(values, ","));
}
RunValue as_value(const OptionValue& value) {
    return std::visit([](const auto& v) { return as_value(v); }, value);
}

RunValue as_value(const HistogramInterval& interval) {
    return interval.automatic ? text_value("auto") : as_value(interval.steps);
}

RunValue as_value(const NetworkLines&) { return {}; }

RunValue as_value(const ForcedTypes& forced) {
    std::vector<std::string> texts;
    for (const auto& [key, type] : forced) texts.push_back(key + "=" + word_of(type));
    return as_value(texts);
}

/// The option's value; its default where the settings leave it out.
RunValue option_value(const RunConfig& config, std::string_view group, const Options& given,
                      std::string_view name) {
    const OptionCatalog catalog(config.model);
    const OptionSpec* spec = find_option(catalog.of(group, chosen_kind(config, group)), name);
    if (spec == nullptr) return {};
    const auto found = given.find(std::string(name));
    const OptionValue& value = found == given.end() ? spec->default_value : found->second;
    const auto* whole = std::get_if<std::int64_t>(&value);
    const bool real = std::holds_alternative<double>(spec->default_value);
    return whole != nullptr && real ? RunValue(static_cast<double>(*whole)) : as_value(value);
}

RunValue setting(const RunConfig& config, std::string_view path) {
    RunValue out;
    for_each_setting(config, [&](const SettingSpec& spec, const auto& member) {
        const std::string_view at = spec.path;
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, Options>) {
            const std::string_view group = at;
            const std::size_t dot = is_option_group(group) ? 0 : 1;
            if (path.size() <= group.size() + dot || !path.starts_with(group)) return;
            if (dot == 1 && path[group.size()] != '.') return;
            const RunValue found =
                option_value(config, group, member, path.substr(group.size() + dot));
            if (is_known(found)) out = found;
        } else if (at == path) {
            out = as_value(member);
        }
    });
    return out;
}

/// The six settings that a preset stands for.
RunValue precision_setting(const PrecisionConfig& given, std::string_view name) {
    if (name == "force") return as_value(given.force);
    if (find_kind(precisions(), given.preset) == nullptr) return {};
    const ResolvedPrecision precision = resolve(given);
    if (name == "weights") return as_value(precision.weights);
    if (name == "autocast") return as_value(precision.autocast);
    if (name == "batch_norm") return as_value(precision.batch_norm);
    if (name == "master_weights") return as_value(precision.master_weights);
    if (name == "recipe") return as_value(precision.recipe);
    return as_value(precision.scaler);
}

ValueKind kind_of(bool) { return ValueKind::flag; }
ValueKind kind_of(std::int64_t) { return ValueKind::number; }
ValueKind kind_of(double) { return ValueKind::number; }
ValueKind kind_of(const HistogramInterval&) { return ValueKind::mixed; }
template <typename T>
ValueKind kind_of(const T&) {
    return ValueKind::text;
}
ValueKind kind_of(const std::optional<bool>&) { return ValueKind::flag; }
ValueKind kind_of(const std::optional<std::int64_t>&) { return ValueKind::number; }

/// The kind of an option that several kinds have: mixed if their types differ.
ValueKind kind_of_option(const OptionCatalog& catalog, std::string_view group,
                         std::string_view name) {
    std::optional<ValueKind> out;
    for (const auto& [kind, specs] : catalog.by_kind(group)) {
        const OptionSpec* spec = find_option(specs, name);
        if (spec == nullptr) continue;
        const ValueKind own =
            std::visit([](const auto& value) { return kind_of(value); }, spec->default_value);
        if (out && *out != own) return ValueKind::mixed;
        out = own;
    }
    return out.value_or(ValueKind::text);
}

std::string label_of(const std::string& path) {
    const FieldInfo* info = find_field(path);
    return info == nullptr ? path : info->label;
}

}  // namespace

RunValue text_value(const std::string& value) {
    return value.empty() ? RunValue{} : RunValue(value);
}

RunValue setting_of(const RunSummary& run, const std::string& path) {
    const auto [section, name] = split_path(path);
    if (section == "precision" && name != "preset")
        return precision_setting(run.config.precision, name);
    if (run.origin && section != "precision" && section != "scaler") {
        if (path == "model.kind") return text_value(run.origin->model);
        if (path == "dataset.kind") return text_value(run.origin->dataset);
        if (path == "optimizer.kind") return text_value(run.origin->optimizer);
        return {};
    }
    return setting(run.config, path);
}

namespace {

/// Options of the runs' texts, behind those of the other models.
void add_text_options(std::vector<RunField>& fields, std::string_view at,
                      std::span<const RunSummary> runs) {
    for (const RunSummary& run : runs) {
        const auto model = find_model(run.config.model);
        if (model == nullptr || !model->from_text) continue;
        for (const OptionSpec& spec : model->options) {
            const std::string path = option_path(at, spec.name);
            const ValueKind kind =
                std::visit([](const auto& value) { return kind_of(value); }, spec.default_value);
            const auto same = std::ranges::find(fields, path, &RunField::name);
            if (same == fields.end())
                fields.push_back({path, spec.label, kind, true});
            else if (same->kind != kind)
                same->kind = ValueKind::mixed;
        }
    }
}

}  // namespace

void add_settings(std::vector<RunField>& fields, std::span<const RunSummary> runs) {
    const OptionCatalog catalog{ModelConfig{}};
    for_each_setting(RunConfig{}, [&](const SettingSpec& spec, const auto& member) {
        const std::string_view at = spec.path;
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, Options>) {
            for (const std::string& name : catalog.names(at)) {
                const std::string path = option_path(at, name);
                fields.push_back({path, label_of(path), kind_of_option(catalog, at, name), true});
            }
            if (at == "model.options") add_text_options(fields, at, runs);
        } else if (spec.place != SettingPlace::in_files) {
            const std::string path(at);
            fields.push_back({path, label_of(path), kind_of(member), true});
        }
    });
}

}  // namespace engine
