#include "engine/settings/run_config.h"

#include <filesystem>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/setting_errors.h"

namespace engine {

std::string SettingError::str() const { return field + ": " + value + ": " + allowed.str(); }

std::vector<SettingError> validate(const RunConfig& config) {
    SettingErrors setting_errors;
    check_config(config, setting_errors);
    return setting_errors.take();
}

ResolvedPrecision resolve(const PrecisionConfig& precision) {
    for (const auto& info : precisions()) {
        if (info.preset != precision.preset) continue;
        ResolvedPrecision out = info.settings;
        out.weights = precision.weights.value_or(out.weights);
        out.autocast = precision.autocast.value_or(out.autocast);
        out.batch_norm = precision.batch_norm.value_or(out.batch_norm);
        out.master_weights = precision.master_weights.value_or(out.master_weights);
        out.scaler = precision.scaler.value_or(out.scaler);
        out.force = precision.force;
        return out;
    }
    throw Error(ErrorCode::settings, msg("{}: not a precision", precision.preset),
                msg("The presets command lists the precisions."));
}

RunConfig completed(RunConfig config) {
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
    for (const auto& info : scaler_presets()) {
        if (info.preset == "classroom") config.scaler = info.settings;
    }
    return completed(std::move(config));
}

}  // namespace engine
