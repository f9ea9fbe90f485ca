#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "amp/scale_rule.h"
#include "kernels/multi_tensor.h"
#include "kernels/step_ends.h"
#include "optim/optimizer.h"
#include "tensor/device_record.h"
#include "tensor/tensor.h"

namespace engine {

/// Multiplies losses so that small f16 gradients do not vanish, skips steps whose gradients
/// overflowed, and updates the scale (loss-scaler.md). Scale and tracker are on the device of the
/// first scaled tensor, found_inf on that of the gradients. Only step() of a plain optimizer,
/// loss_scale(), saved_state(), and copies from one device to another wait for a device.
class GradScaler {
public:
    /// Saved values by name: scale, growth_factor, backoff_factor, growth_interval, growth_tracker;
    /// with hysteresis hysteresis_tracker too, the overflows until the next back-off. Empty:
    /// disabled.
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
    /// finite (loss-scaler.md#unscale_, 2.4).
    void unscale_(Optimizer& optimizer);
    /// Runs the gradient check of a scaling-aware optimizer's step now
    /// (loss-scaler.md#scaling-aware-optimizers, 2.6, point 1), so that clipping can use its norm.
    /// The result stays on the device. After unscale_() the step is skipped if either check found
    /// an overflow.
    const DeviceRecord<kernels::GradientStatistics>& check_gradients(Optimizer& optimizer);
    /// Steps or skips (loss-scaler.md#step, 2.5, 2.6). True if the optimizer's step was called.
    bool step(Optimizer& optimizer);
    /// Moves the scale by what the optimizers found (loss-scaler.md#update, 2.7), and clears that.
    void update();
    /// Updates as update() does, but leaves the change of the scale to the caller's kernel, which
    /// gets the places and the rule in `ending`. Returns the tensor that the kernel reads.
    Tensor leave_update_to(kernels::StepEnding& ending);
    /// Overwrites the scale. Throws Error(state) if the tensor has more than one element, is
    /// elsewhere or requires a gradient.
    void update(double new_scale);
    void update(const Tensor& new_scale);
    /// An integer is not a scale (loss-scaler.md#errors, 2.8).
    template <std::integral T>
    void update(T new_scale) = delete;

    /// Forgets what was found since the last update(), as if step() had not begun.
    void forget() { records_.clear(); }

    bool is_enabled() const { return options_.enabled; }
    /// 1 when disabled; the initial value before the first scale().
    double loss_scale() const;
    std::int64_t growth_tracker() const;
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
    /// Gradient statistics of a scaling-aware optimizer in this step, from the scaled gradients.
    /// Nothing if no check was made. Waits for the device.
    std::optional<kernels::GradientStatistics> gradient_statistics(
        const Optimizer& optimizer) const;
    /// 0-d f32 on the device; undefined before the first scale().
    const Tensor& scale_tensor() const { return scale_; }
    /// 0-d i32 on the device; undefined before the first scale().
    const Tensor& tracker_tensor() const { return tracker_; }

private:
    enum class Stage { ready, unscaled, stepped };
    struct Record {
        Stage stage = Stage::ready;
        std::vector<Tensor> found_inf;  // one a device and check, 0-d f32
        DeviceRecord<kernels::GradientStatistics> gradient_statistics;  // undefined: not checked
    };

    void create_state(const Device& device);
    std::int32_t hysteresis_tracker() const;
    void require_scale(const char* call) const;
    Record& record_of(const Optimizer& optimizer) { return records_[&optimizer]; }
    Tensor scale_on(const Device& device) const;
    void unscale_gradients(const Optimizer& optimizer, Record& record) const;
    void compute_gradient_statistics(const Optimizer& optimizer, Record& record) const;
    bool step_plain(Optimizer& optimizer, Record& record);
    bool step_aware(Optimizer& optimizer, Record& record);

    ScalerOptions options_;
    std::int32_t init_growth_tracker_ = 0;
    std::int32_t init_hysteresis_;
    Tensor scale_;       // 0-d f32
    Tensor tracker_;     // 0-d i32
    Tensor hysteresis_;  // 0-d i32
    std::unordered_map<const Optimizer*, Record> records_;
};

}  // namespace engine
