#include "amp/opt_level.h"

#include <algorithm>
#include <charconv>

#include "engine/base/error.h"

namespace engine {
namespace {

OptProperties of_level(const std::string& level) {
    if (level == "O0") return {true, level, DType::f32, false, std::nullopt, false, 1.0};
    if (level == "O1")
        return {true, level, std::nullopt, true, std::nullopt, std::nullopt, std::nullopt};
    if (level == "O2") return {true, level, DType::f16, false, true, true, std::nullopt};
    if (level == "O3") return {true, level, DType::f16, false, false, false, 1.0};
    throw Error(ErrorCode::value,
                "opt level " + level + ": there are O0, O1, O2 and O3 (the letter O, not zero)");
}

bool parse_flag(const std::variant<bool, std::string>& given) {
    if (const bool* flag = std::get_if<bool>(&given)) return *flag;
    const std::string& text = std::get<std::string>(given);
    if (text == "True") return true;
    if (text == "False") return false;
    throw Error(ErrorCode::value,
                "keep_batchnorm_fp32: must be a flag or \"True\" or \"False\", not " + text);
}

LossScale scale_of(const std::variant<double, std::string>& given) {
    double value = 0;
    if (const double* number = std::get_if<double>(&given)) {
        value = *number;
    } else {
        const std::string& text = std::get<std::string>(given);
        if (text == "dynamic") return std::nullopt;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size())
            throw Error(ErrorCode::value,
                        "loss_scale: must be a number or \"dynamic\", not " + text);
    }
    if (!(value > 0)) throw Error(ErrorCode::value, "loss_scale: must be above 0");
    return value;
}

}  // namespace

ResolvedOptLevel resolve_opt_level(const std::string& level, const OptOverrides& overrides) {
    ResolvedOptLevel out{of_level(level), {}};
    OptProperties& p = out.properties;
    p.enabled = overrides.enabled;
    if (!overrides.enabled) return out;
    const auto refuse = [&](const std::string& why) {
        if (!overrides.hard_override)
            throw Error(ErrorCode::value, "opt level " + level + ": " + why,
                        "hard_override takes it with a warning.");
        out.warnings.push_back("opt level " + level + ": " + why);
    };
    const bool o1 = level == "O1";
    if (overrides.cast_model_type) {
        const auto& type = *overrides.cast_model_type;
        if (o1 && type && *type != DType::f32)
            refuse(
                "keeps the model in f32 and casts around operations; cast_model_type cannot be " +
                std::string(name(*type)));
        p.cast_model_type = type;
    }
    if (overrides.patch_functions) {
        if (*overrides.patch_functions && !o1) refuse("only O1 casts around operations");
        p.patch_functions = *overrides.patch_functions;
    }
    if (overrides.keep_batchnorm_fp32) {
        if (o1)
            refuse(
                "batch norm follows the casts around operations; keep_batchnorm_fp32 cannot be "
                "set");
        p.keep_batchnorm_fp32 = parse_flag(*overrides.keep_batchnorm_fp32);
    }
    if (overrides.master_weights) {
        if (o1) refuse("the weights are f32 and their own masters; master_weights cannot be set");
        p.master_weights = overrides.master_weights;
    }
    if (overrides.loss_scale) p.loss_scale = scale_of(*overrides.loss_scale);
    return out;
}

OptProperties to_properties(const ResolvedPrecision& precision) {
    const bool casts = precision.autocast != AutocastFormat::off;
    OptOverrides overrides{.hard_override = true};
    std::string level = casts ? "O1" : "O0";
    if (precision.weights == WeightFormat::fp16) {
        level = precision.master_weights ? "O2" : "O3";
        overrides.keep_batchnorm_fp32 = precision.batch_norm != WeightFormat::fp16;
        overrides.patch_functions = casts;
    }
    return resolve_opt_level(level, overrides).properties;
}

ScalerOptions apex_scaler(const LossScale& loss_scale, double min_scale, double max_scale) {
    if (loss_scale)
        throw Error(ErrorCode::value,
                    "apex_scaler: a static loss scale never changes and never skips a step");
    return {.init_scale = std::min(max_scale, 0x1p16),
            .growth_factor = 2,
            .backoff_factor = 0.5,
            .growth_interval = 2000,
            .min_scale = min_scale,
            .max_scale = max_scale};
}

ScalerOptions apex_fp16_scaler() {
    return {.init_scale = 0x1p32, .growth_interval = 1000, .min_scale = 1};
}

ScalerOptions fastai1_scaler() { return {.init_scale = 0x1p32, .growth_interval = 1000}; }

ScalerOptions fastai2_scaler(double div_factor) {
    return {.init_scale = 0x1p24,
            .growth_factor = div_factor,
            .backoff_factor = 1 / div_factor,
            .growth_interval = 500,
            .overflow_resets = false};
}

}  // namespace engine
