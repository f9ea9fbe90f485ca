#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "amp/scale_rule.h"
#include "engine/base/error.h"
#include "tensor/dtype.h"

namespace engine {

/// A static loss scale. No value: a dynamic one.
using LossScale = std::optional<double>;

/// The properties of an opt level (optimizers.md#opt-levels, 4.1). A missing one is not set by the
/// level.
struct OptProperties {
    bool enabled = true;
    std::string level;
    std::optional<DType> cast_model_type;  ///< parameters and float buffers are cast to it
    bool patch_functions = false;          ///< casts around ops: an autocast region
    std::optional<bool> keep_batchnorm_fp32;
    std::optional<bool> master_weights;
    LossScale loss_scale;
};

/// Properties that the user overrides. An engaged optional that holds an empty one means "none".
struct OptOverrides {
    std::optional<std::optional<DType>> cast_model_type{};
    std::optional<bool> patch_functions{};
    /// True, False, or the strings "True" and "False".
    std::optional<std::variant<bool, std::string>> keep_batchnorm_fp32{};
    std::optional<bool> master_weights{};
    /// A number, or its text, or "dynamic".
    std::optional<std::variant<double, std::string>> loss_scale{};
    bool enabled = true;
    /// Applies overrides that contradict the level all the same, with a warning.
    bool hard_override = false;
};

struct ResolvedOptLevel {
    OptProperties properties;
    std::vector<std::string> warnings;
};

/// The properties of a level ("O0" to "O3") with the overrides applied. Throws Error(value) for an
/// unknown level, an invalid value, and an override that contradicts the level.
ResolvedOptLevel resolve_opt_level(const std::string& level, const OptOverrides& overrides = {});

/// Apex amp's scaler: starts at min(max, 2^16), doubles after 2000 clean steps up to `max_scale`,
/// halves on overflow down to `min_scale` (0: no floor). Throws Error(value) for a static scale,
/// which never changes and never skips: it is a factor and needs no scaler.
ScalerOptions apex_scaler(const LossScale& loss_scale, double min_scale = 0,
                          double max_scale = 0x1p24);
/// The scaler of apex's older fp16 wrapper: starts at 2^32, window 1000, never below 1.
ScalerOptions apex_fp16_scaler();
/// fastai 1.0's scaler: starts at 2^32, doubles after 1000 clean steps in a row.
ScalerOptions fastai1_scaler();
/// fastai 2's own scaler: starts at 2^24, doubles after every 500 clean steps; overflows do not
/// restart the count.
ScalerOptions fastai2_scaler(double div_factor = 2);

namespace opt_level {

inline OptProperties of_level(const std::string& level) {
    if (level == "O0") return {true, level, DType::f32, false, std::nullopt, false, 1.0};
    if (level == "O1")
        return {true, level, std::nullopt, true, std::nullopt, std::nullopt, std::nullopt};
    if (level == "O2") return {true, level, DType::f16, false, true, true, std::nullopt};
    if (level == "O3") return {true, level, DType::f16, false, false, false, 1.0};
    throw Error(ErrorCode::value,
                "opt level " + level + ": there are O0, O1, O2 and O3 (the letter O, not zero)");
}

inline bool parse_flag(const std::variant<bool, std::string>& given) {
    if (const bool* flag = std::get_if<bool>(&given)) return *flag;
    const std::string& text = std::get<std::string>(given);
    if (text == "True") return true;
    if (text == "False") return false;
    throw Error(ErrorCode::value,
                "keep_batchnorm_fp32: must be a flag or \"True\" or \"False\", not " + text);
}

inline LossScale scale_of(const std::variant<double, std::string>& given) {
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

}  // namespace opt_level

inline ResolvedOptLevel resolve_opt_level(const std::string& level, const OptOverrides& overrides) {
    ResolvedOptLevel out{opt_level::of_level(level), {}};
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
        p.keep_batchnorm_fp32 = opt_level::parse_flag(*overrides.keep_batchnorm_fp32);
    }
    if (overrides.master_weights) {
        if (o1) refuse("the weights are f32 and their own masters; master_weights cannot be set");
        p.master_weights = overrides.master_weights;
    }
    if (overrides.loss_scale) p.loss_scale = opt_level::scale_of(*overrides.loss_scale);
    return out;
}

inline ScalerOptions apex_scaler(const LossScale& loss_scale, double min_scale, double max_scale) {
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

inline ScalerOptions apex_fp16_scaler() {
    return {.init_scale = 0x1p32, .growth_interval = 1000, .min_scale = 1};
}

inline ScalerOptions fastai1_scaler() { return {.init_scale = 0x1p32, .growth_interval = 1000}; }

inline ScalerOptions fastai2_scaler(double div_factor) {
    return {.init_scale = 0x1p24,
            .growth_factor = div_factor,
            .backoff_factor = 1 / div_factor,
            .growth_interval = 500,
            .overflow_resets = false};
}

}  // namespace engine
