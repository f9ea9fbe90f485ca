#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/array.h"
#include "kernels/host_device.h"
#include "kernels/kernel.h"

namespace kernels {

struct ScaleUpdate {
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;
    double min_scale = 0;         ///< 0: no floor
    double max_scale = 0;         ///< 0: no ceiling
    int hysteresis = 1;           ///< overflows in a row before the scale backs off
    bool overflow_resets = true;  ///< the count of clean steps starts again after an overflow
};

/// Scale and counters, as they lie on the device.
struct ScaleState {
    float scale;
    std::int32_t growth_tracker;
    std::int32_t hysteresis_left;
};

/// The update rule (loss-scaler.md#update, 2.7): products in f64, rounded to f32; the interval test
/// is equality; the scale does not grow to a non-finite value. Shared by the twins and by the
/// host's ScaleRule.
HALFTONE_HOST_DEVICE inline void apply(ScaleState& state, bool found_inf, const ScaleUpdate& rule) {
    if (found_inf) {
        if (rule.overflow_resets) state.growth_tracker = 0;
        if (state.hysteresis_left > 1) {
            --state.hysteresis_left;
            return;
        }
        state.scale = static_cast<float>(static_cast<double>(state.scale) * rule.backoff_factor);
        if (rule.min_scale > 0 && state.scale < rule.min_scale)
            state.scale = static_cast<float>(rule.min_scale);
        return;
    }
    state.hysteresis_left = rule.hysteresis;
    if (state.growth_tracker + 1 != rule.growth_interval) {
        ++state.growth_tracker;
        return;
    }
    state.growth_tracker = 0;
    const auto grown = static_cast<float>(static_cast<double>(state.scale) * rule.growth_factor);
    if (!std::isfinite(grown)) return;
    state.scale =
        rule.max_scale > 0 && grown > rule.max_scale ? static_cast<float>(rule.max_scale) : grown;
}

/// *scale, *growth_tracker, *hysteresis_left after a step whose flag is *found_inf (0: clean).
using UpdateScale = void(float* scale, std::int32_t* growth_tracker, std::int32_t* hysteresis_left,
                         const float* found_inf, const ScaleUpdate& rule, Stream stream);
HALFTONE_KERNEL(UpdateScale, update_scale);
/// Adds 1 to each of these counts if *found_inf is 0 (or found_inf is null).
using AdvanceStep = void(std::span<std::int64_t* const> counts, const float* found_inf,
                         Stream stream);
HALFTONE_KERNEL(AdvanceStep, advance_step);
/// *clip = min(1, max_norm / (norm + 1e-6)), norm = sqrt(*sum_squares) / *grad_scale (null: 1); 1
/// if norm is not finite.
using ClipCoefficient = void(float* clip, const double* sum_squares, const float* grad_scale,
                             double max_norm, Stream stream);
HALFTONE_KERNEL(ClipCoefficient, clip_coefficient);

}  // namespace kernels
