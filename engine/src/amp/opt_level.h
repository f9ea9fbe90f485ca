#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "amp/scale_rule.h"
#include "core/dtype.h"
#include "engine/run_config.h"

namespace engine {

/// A static loss scale, or a dynamic one where there is no number.
using LossScale = std::optional<double>;

/// What an opt level sets (4.1). Absent: the level leaves it open.
struct OptProperties {
    bool enabled = true;
    std::string level;
    std::optional<DType> cast_model_type;  ///< parameters and float buffers are cast to it
    bool patch_functions = false;          ///< casts around ops: an autocast region
    std::optional<bool> keep_batchnorm_fp32;
    std::optional<bool> master_weights;
    LossScale loss_scale;
};

/// What a user gives beside the level. An empty optional inside of one that is there is "none".
struct OptOverrides {
    std::optional<std::optional<DType>> cast_model_type{};
    std::optional<bool> patch_functions{};
    /// True, False, or the strings "True" and "False".
    std::optional<std::variant<bool, std::string>> keep_batchnorm_fp32{};
    std::optional<bool> master_weights{};
    /// A number, or its text, or "dynamic".
    std::optional<std::variant<double, std::string>> loss_scale{};
    bool enabled = true;
    /// Refused overrides are taken all the same, with a warning.
    bool hard_override = false;
};

struct ResolvedOptLevel {
    OptProperties properties;
    std::vector<std::string> warnings;
};

/// The level's properties ("O0" to "O3") with the overrides. Throws Error(value) for an unknown
/// level, a value that is none, and an override that the level refuses.
ResolvedOptLevel resolve_opt_level(const std::string& level, const OptOverrides& overrides = {});

/// The level that a precision of the settings stands for, with the settings that differ from it as
/// overrides: weights in f16 are O2 with masters and O3 without, autocast alone is O1, else O0. The
/// loss scale is the settings' own.
OptProperties properties_of(const ResolvedPrecision& precision);

/// Apex amp's scaler: starts at min(max, 2^16), doubles after 2000 clean steps up to `max_scale`,
/// halves on overflow down to `min_scale` (0: no floor). A static scale never changes and never
/// skips: it is no scaler but a factor, and asking for one throws Error(value).
ScalerOptions apex_scaler(const LossScale& loss_scale, double min_scale = 0,
                          double max_scale = 0x1p24);
/// Of apex's older fp16 wrapper: from 2^32, window 1000, never below 1.
ScalerOptions apex_fp16_scaler();
/// fastai 1.0's: from 2^32, doubles after 1000 clean steps in a row.
ScalerOptions fastai1_scaler();
/// fastai 2's own: from 2^24, doubles after every 500 clean steps, whatever overflows lie between.
ScalerOptions fastai2_scaler(double div_factor = 2);

}  // namespace engine
