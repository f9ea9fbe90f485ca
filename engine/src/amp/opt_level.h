#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "amp/scale_rule.h"
#include "engine/settings/run_config.h"
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

/// The opt level that the precision settings correspond to, with the differences as overrides. f16
/// weights are O2 with masters and O3 without; autocast alone is O1; all else is O0. The loss scale
/// is taken from the settings.
OptProperties to_properties(const ResolvedPrecision& precision);

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

}  // namespace engine
