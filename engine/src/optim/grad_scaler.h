#pragma once

#include <concepts>
#include <map>
#include <ranges>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "amp/scale_rule.h"
#include "optim/optimizer.h"
#include "tensor/device_record.h"
#include "tensor/tensor.h"

namespace engine {

/// Scales losses as PyTorch's GradScaler does, for loops that are written by hand
/// (loss-scaler.md#stages, 2.2). A training session has a LossScaler instead. The scale is on
/// the device of the first scaled tensor, found_inf on that of the gradients. Only step() of a plain
/// optimizer, loss_scale(), saved_state(), and copies from one device to another wait for a device.
class GradScaler {
public:
    /// As LossScaler::saved_state(). Empty: disabled.
    using State = std::map<std::string, double>;

    /// Throws Error(state) if enabled with growth_factor <= 1 or backoff_factor >= 1.
    explicit GradScaler(const ScalerOptions& options = {});

    /// x times the scale, recorded; creates the device state on first use. Disabled: x itself.
    Tensor scale(const Tensor& x);
    /// Containers keep their kind and nesting; other ranges come back lazy.
    template <typename T>
    std::vector<T> scale(const std::vector<T>& xs) {
        std::vector<T> out;
        out.reserve(xs.size());
        for (const auto& x : xs) out.push_back(scale(x));
        return out;
    }
    template <typename... T>
    std::tuple<T...> scale(const std::tuple<T...>& xs) {
        return std::apply([this](const auto&... x) { return std::tuple<T...>{scale(x)...}; }, xs);
    }
    template <std::ranges::view V>
    auto scale(V xs) {
        return std::views::transform(xs, [this](const auto& x) { return scale(x); });
    }

    /// Divides the optimizer's gradients by the scale in place, and records whether any was not
    /// finite.
    void unscale_(Optimizer& optimizer);
    /// Steps or skips; a scaling-aware optimizer decides itself. True if its step was called.
    bool step(Optimizer& optimizer);
    /// Moves the scale by what the optimizers found, and clears that.
    void update();
    /// Overwrites the scale. Throws Error(state) if the tensor has more than one element, is
    /// elsewhere or requires a gradient.
    void update(double new_scale);
    void update(const Tensor& new_scale);
    /// An integer is not a scale.
    template <std::integral T>
    void update(T new_scale) = delete;

    bool is_enabled() const { return options_.enabled; }
    /// 1 when disabled; the initial value before the first scale().
    double loss_scale() const;
    std::int64_t growth_tracker() const { return options_.enabled ? now().growth_tracker : 0; }
    double growth_factor() const { return options_.growth_factor; }
    double backoff_factor() const { return options_.backoff_factor; }
    std::int64_t growth_interval() const { return options_.growth_interval; }
    void set_growth_factor(double value) { options_.growth_factor = value; }
    void set_backoff_factor(double value) { options_.backoff_factor = value; }
    void set_growth_interval(std::int64_t value) { options_.growth_interval = value; }

    State saved_state() const;
    /// Throws Error(state) for an empty state in an enabled scaler, Error(value) for a missing key.
    /// One without hysteresis_tracker starts a new count.
    void load_state(const State& state);
    /// The whole object, current scale and tracker as initial values. Only at the start or after
    /// update().
    GradScaler serialised() const;

    /// Whether the last step() of this optimizer since the last update() was (or will be) skipped.
    /// Waits for the device.
    bool skipped(const Optimizer& optimizer) const;
    /// 0-d f32 on the device; undefined before the first scale().
    const Tensor& scale_tensor() const { return scale_; }

private:
    enum class Stage { ready, unscaled, stepped };
    struct Record {
        Stage stage = Stage::ready;
        TensorList found_inf;  // one a device, 0-d f32
    };

    void require_scale(const char* call) const;
    kernels::ScaleState now() const { return state_.defined() ? state_.host() : initial_; }
    void unscale_gradients(const Optimizer& optimizer, Record& record) const;
    bool step_plain(Optimizer& optimizer, Record& record);
    void step_aware(Optimizer& optimizer, Record& record) const;

    ScalerOptions options_;
    kernels::ScaleState initial_;
    DeviceRecord<kernels::ScaleState> state_;
    Tensor scale_;  // of state_
    std::unordered_map<const Optimizer*, Record> records_;
};

}  // namespace engine
