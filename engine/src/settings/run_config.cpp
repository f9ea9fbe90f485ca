#include "engine/settings/run_config.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/setting_errors.h"
#include "settings/setting_specs.h"

namespace engine {
namespace {

bool plays_a_part(const TeachConfig& teach, const std::string& path) {
    if (path == "teach.promote_every") return teach.accumulator_bits != 0;
    if (path == "teach.norm_epsilon") return teach.norm == TeachNorm::composed;
    const bool of_plant = path.starts_with("teach.plant.");
    return !of_plant || teach.plant.kind != PlantKind::none;
}

/// The value as on the command line, without the quotes of JSON.
std::string bare(std::string json) {
    if (json.size() >= 2 && json.front() == '"') json = json.substr(1, json.size() - 2);
    return json;
}

std::map<std::string, std::size_t> field_order() {
    std::map<std::string, std::size_t> order;
    for (const FieldInfo& info : fields()) order.emplace(info.path, order.size());
    return order;
}

}  // namespace

std::string SettingError::str() const { return field + ": " + value + ": " + allowed.str(); }

std::vector<SettingError> validate(const RunConfig& config) {
    SettingErrors setting_errors;
    check_config(config, setting_errors);
    return setting_errors.take();
}

ResolvedPrecision resolve(const PrecisionConfig& precision) {
    const PrecisionDescriptor* preset = find_kind(precisions(), precision.preset);
    if (preset == nullptr) {
        throw Error(ErrorCode::settings, msg("{}: not a precision", precision.preset),
                    msg("The presets command lists the precisions."));
    }
    ResolvedPrecision out = preset->settings;
    out.weights = precision.weights.value_or(out.weights);
    out.autocast = precision.autocast.value_or(out.autocast);
    out.batch_norm = precision.batch_norm.value_or(out.batch_norm);
    out.master_weights = precision.master_weights.value_or(out.master_weights);
    out.scaler = precision.scaler.value_or(out.scaler);
    out.force = precision.force;
    out.recipe = precision.recipe.value_or(out.recipe);
    return out;
}

RunConfig completed(RunConfig config) {
    ModelConfig& model = config.model;
    const auto kind = find_model(model);
    if (kind != nullptr && kind->from_text && !model.network.empty()) {
        if (model.sha256.empty()) model.sha256 = read_network(model.network)->sha256;
        if (model.notation == 0) model.notation = network_notation;
    }
    for (const OptionGroup& group : option_groups(config)) complete(group.options, group.own());
    return config;
}

RunConfig with_absolute_paths(RunConfig config) {
    for_each_path(config, [](std::string& path) {
        std::error_code error;
        const auto absolute = std::filesystem::absolute(path, error);
        if (!error) path = absolute.lexically_normal().string();
    });
    return config;
}

RunConfig default_comparison() {
    RunConfig config;
    config.scaler = std::ranges::find_if(scaler_presets(), &ScalerDescriptor::teaches)->settings;
    return completed(std::move(config));
}

std::vector<std::string> broken_on_purpose(const RunConfig& config) {
    std::vector<std::string> out;
    if (config.teach == TeachConfig{}) return out;
    RunConfig intact = config;
    intact.teach = {};
    const std::vector<std::string> differing = differing_fields(config, intact);
    for_each_setting(config, [&](const SettingSpec& spec, const auto&) {
        const std::string path = spec.path;
        const bool differs = std::find(differing.begin(), differing.end(), path) != differing.end();
        if (differs && plays_a_part(config.teach, path))
            out.push_back(path + '=' + bare(setting_text(config, path)));
    });
    return out;
}

std::string broken_on_purpose_text(const RunConfig& config) {
    return join(broken_on_purpose(config));
}

void SettingErrors::add(std::string_view field, std::string value, Message allowed) {
    fields_.emplace(field);
    if (!is_full()) errors_.push_back({std::string(field), std::move(value), std::move(allowed)});
}

std::vector<SettingError> SettingErrors::take() {
    const auto order = field_order();
    const auto rank = [&order](const SettingError& error) {
        const auto at = order.find(error.field);
        return at == order.end() ? 0 : at->second + 1;
    };
    std::stable_sort(errors_.begin(), errors_.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return std::move(errors_);
}

}  // namespace engine
