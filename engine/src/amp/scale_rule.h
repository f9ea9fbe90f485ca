#pragma once

#include "engine/base/error.h"
#include "kernels/scaler.h"

namespace engine {

/// Settings of the scaler (loss-scaler.md#settings-and-state, 2.1). Floor, ceiling, hysteresis and
/// what follows are off by default.
struct ScalerOptions {
    double init_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;
    bool enabled = true;
    double min_scale = 0;
    double max_scale = 0;
    int hysteresis = 1;
    /// Off: fastai 2's count of clean steps (optimizers.md#fastais-scalers, 4.2).
    bool overflow_resets = true;

    kernels::ScaleUpdate update() const {
        return {growth_factor, backoff_factor, growth_interval, min_scale,
                max_scale,     hysteresis,     overflow_resets};
    }
};

/// The update of the scale (loss-scaler.md#update, 2.7) on the host, for what-if replays and
/// lessons. LossScaler runs the same rule on the device.
class ScaleRule {
public:
    explicit ScaleRule(const ScalerOptions& options)
        : rule_(options.update()),
          state_{static_cast<float>(options.init_scale), 0, options.hysteresis} {}

    void update(bool found_inf) { kernels::apply(state_, found_inf, rule_); }
    float loss_scale() const { return state_.scale; }
    std::int32_t growth_tracker() const { return state_.growth_tracker; }

private:
    kernels::ScaleUpdate rule_;
    kernels::ScaleState state_;
};

}  // namespace engine
