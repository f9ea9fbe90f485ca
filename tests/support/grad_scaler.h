#pragma once

#include <concepts>
#include <map>
#include <ranges>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "amp/scale_rule.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "kernels/multi_tensor.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "optim/loss_scaler.h"
#include "optim/optimizer.h"
#include "tensor/cast.h"
#include "tensor/device_record.h"
#include "tensor/layout.h"

namespace engine {

/// Scales losses as PyTorch's GradScaler does, for loops that are written by hand
/// (loss-scaler.md#stages, 2.2). A training session has a LossScaler instead. The scale is on
/// the device of the first scaled tensor, found_inf on that of the gradients. Only step() of a
/// plain optimizer, loss_scale(), saved_state(), and copies from one device to another wait for a
/// device.
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

namespace scaling {

inline bool any_set(const TensorList& flags) {
    for (const auto& flag : flags) {
        if (flag.item() != 0) return true;
    }
    return false;
}

/// Gradients of one device, as a multi-tensor pass takes them.
struct DeviceGradients {
    Device device;
    std::vector<kernels::Array> arrays;
};

inline std::vector<kernels::Array>& of_device(std::vector<DeviceGradients>& groups,
                                              const Device& device) {
    for (auto& group : groups) {
        if (group.device == device) return group.arrays;
    }
    groups.push_back({device, {}});
    return groups.back().arrays;
}

}  // namespace scaling

inline GradScaler::GradScaler(const ScalerOptions& options)
    : options_(options), initial_{static_cast<float>(options.init_scale), 0, options.hysteresis} {
    if (!options.enabled) return;
    if (!(options.growth_factor > 1))
        throw Error(ErrorCode::state, "GradScaler: growth_factor must be above 1");
    if (!(options.backoff_factor < 1))
        throw Error(ErrorCode::state, "GradScaler: backoff_factor must be below 1");
}

inline void GradScaler::require_scale(const char* call) const {
    if (!scale_.defined()) {
        throw Error(ErrorCode::state, std::string("GradScaler.") + call + ": there is no scale yet",
                    "Call scale() on the loss first.");
    }
}

inline Tensor GradScaler::scale(const Tensor& x) {
    if (!options_.enabled) return x;
    if (!x.defined())
        throw Error(ErrorCode::value,
                    "GradScaler.scale: only tensors and lists of them can be scaled");
    if (!scale_.defined()) {
        state_ = DeviceRecord<kernels::ScaleState>(x.device());
        state_.set(initial_);
        scale_ = state_.field(&kernels::ScaleState::scale);
    }
    return mul(x, scale_.copy_to(x.device()));
}

inline void GradScaler::unscale_gradients(const Optimizer& optimizer, Record& record) const {
    std::vector<scaling::DeviceGradients> groups;
    for (const auto& parameter : optimizer.parameters()) {
        const Tensor grad = parameter.tensor.grad();
        if (!grad.defined()) continue;
        if (grad.dtype() == DType::f16) {
            throw Error(ErrorCode::value,
                        "GradScaler: f16 gradients cannot be unscaled (" + parameter.name + ")",
                        "Keep the parameters in fp32 and use autocast, or an optimizer that knows "
                        "of scaling.");
        }
        if (grad.is_sparse()) {
            scaling::of_device(groups, grad.device()).push_back(sparse_parts(grad).values.array());
            grad.bump_version();
            continue;
        }
        if (!is_dense(grad)) parameter.tensor.set_grad(in_layout(grad, Layout::contiguous));
        scaling::of_device(groups, grad.device()).push_back(parameter.tensor.grad().array());
        parameter.tensor.grad().bump_version();
    }
    const GradMode off(false);
    for (const auto& [device, arrays] : groups) {
        const DeviceScope scope(device);
        const Tensor found_inf = Tensor::zeros({}, DType::f32, device);
        const Tensor inv_scale = to(reciprocal(to(scale_.copy_to(device), DType::f64)), DType::f32);
        on(device, kernels::cpu::multi_tensor_unscale, kernels::cuda::multi_tensor_unscale)(
            arrays, inv_scale.data_as<float>(), found_inf.data_as<float>(), current_stream());
        record.found_inf.push_back(found_inf);
    }
}

inline void GradScaler::unscale_(Optimizer& optimizer) {
    if (!options_.enabled) return;
    require_scale("unscale_");
    Record& record = records_[&optimizer];
    if (record.stage == Stage::unscaled) {
        throw Error(ErrorCode::state,
                    "GradScaler.unscale_: already unscaled since the last update()");
    }
    if (record.stage == Stage::stepped) {
        throw Error(ErrorCode::state, "GradScaler.unscale_: called after step()");
    }
    unscale_gradients(optimizer, record);
    record.stage = Stage::unscaled;
}

inline bool GradScaler::step_plain(Optimizer& optimizer, Record& record) {
    if (record.stage == Stage::ready) {
        unscale_gradients(optimizer, record);
        record.stage = Stage::unscaled;
    }
    if (record.found_inf.empty()) {
        throw Error(
            ErrorCode::state,
            "GradScaler.step: no inf checks for this optimizer: no parameter has a gradient");
    }
    const bool apply = !scaling::any_set(record.found_inf);
    if (apply) optimizer.step();
    record.stage = Stage::stepped;
    return apply;
}

namespace scaling {

/// Puts an optimizer's device values back as its user left them, also when its step throws.
struct StepValues {
    Optimizer& optimizer;
    Tensor users_grad_scale = optimizer.grad_scale;
    ~StepValues() {
        optimizer.grad_scale = users_grad_scale;
        optimizer.found_inf = {};
    }
};

}  // namespace scaling

/// Without a wait: the optimizer divides by the scale and skips by the flag itself
/// (loss-scaler.md#scaling-aware-optimizers, 2.6).
inline void GradScaler::step_aware(Optimizer& optimizer, Record& record) const {
    const scaling::StepValues values{optimizer};
    const Tensor& users = values.users_grad_scale;
    if (record.stage == Stage::ready) {
        TensorList gradients;
        for (const auto& parameter : optimizer.parameters()) {
            if (parameter.tensor.grad().defined()) gradients.push_back(parameter.tensor.grad());
        }
        if (!gradients.empty()) {
            const DeviceScope scope(optimizer.device());
            const DeviceRecord<kernels::GradientStatistics> checked(optimizer.device());
            check_gradients(checked, gradients);
            record.found_inf.push_back(checked.field(&kernels::GradientStatistics::found_inf));
        }
        const Tensor scale = scale_.copy_to(optimizer.device());
        optimizer.grad_scale = users.defined() ? mul(users, scale) : scale;
    }
    optimizer.found_inf = sum_of_flags(record.found_inf, optimizer.device());
    optimizer.step();
    record.stage = Stage::stepped;
}

inline bool GradScaler::step(Optimizer& optimizer) {
    if (!options_.enabled) {
        optimizer.step();
        return true;
    }
    require_scale("step");
    Record& record = records_[&optimizer];
    if (record.stage == Stage::stepped) {
        throw Error(ErrorCode::state, "GradScaler.step: already stepped since the last update()");
    }
    if (!optimizer.scaling_aware()) return step_plain(optimizer, record);
    step_aware(optimizer, record);
    return true;
}

inline void GradScaler::update() {
    if (!options_.enabled) return;
    require_scale("update");
    TensorList flags;
    for (const auto& [optimizer, record] : records_)
        flags.insert(flags.end(), record.found_inf.begin(), record.found_inf.end());
    if (flags.empty()) {
        throw Error(ErrorCode::state,
                    "GradScaler.update: no inf checks were recorded since the last update()");
    }
    move_scale(state_, sum_of_flags(flags, scale_.device()), options_.update());
    scale_.bump_version();
    records_.clear();
}

inline void GradScaler::update(double new_scale) {
    if (!options_.enabled) return;
    require_scale("update");
    on(scale_.device(), kernels::cpu::fill, kernels::cuda::fill)(scale_.array(), new_scale,
                                                                 current_stream());
    scale_.bump_version();
    records_.clear();
}

inline void GradScaler::update(const Tensor& new_scale) {
    if (!options_.enabled) return;
    if (!new_scale.defined() || new_scale.numel() != 1 || new_scale.requires_grad() ||
        (scale_.defined() && new_scale.device().kind != scale_.device().kind)) {
        throw Error(ErrorCode::state,
                    "GradScaler.update: the new scale must be one element on the scaler's device, "
                    "without a gradient");
    }
    if (!is_floating(new_scale.dtype())) {
        throw Error(ErrorCode::dtype,
                    std::string("GradScaler.update: the new scale must be floating, not ") +
                        name(new_scale.dtype()));
    }
    update(new_scale.item());
}

inline double GradScaler::loss_scale() const {
    return options_.enabled ? static_cast<double>(now().scale) : 1;
}

inline GradScaler::State GradScaler::saved_state() const {
    return options_.enabled ? named_values(now(), options_.update()) : State();
}

inline void GradScaler::load_state(const State& state) {
    if (!options_.enabled) return;
    if (state.empty()) {
        throw Error(
            ErrorCode::state,
            "GradScaler: the saved state is empty; it probably comes from a disabled scaler");
    }
    const auto value = [&](const char* key) {
        const auto found = state.find(key);
        if (found == state.end())
            throw Error(ErrorCode::value, std::string("GradScaler: the saved state has no ") + key);
        return found->second;
    };
    ScalerOptions loaded = options_;
    loaded.init_scale = value("scale");
    loaded.growth_factor = value("growth_factor");
    loaded.backoff_factor = value("backoff_factor");
    loaded.growth_interval = static_cast<std::int64_t>(value("growth_interval"));
    const auto left = state.find("hysteresis_tracker");
    initial_ = {static_cast<float>(loaded.init_scale),
                static_cast<std::int32_t>(value("growth_tracker")),
                left != state.end() ? static_cast<std::int32_t>(left->second) : loaded.hysteresis};
    options_ = loaded;
    if (!state_.defined()) return;
    state_.set(initial_);
    scale_.bump_version();
}

inline GradScaler GradScaler::serialised() const {
    if (!records_.empty()) {
        throw Error(ErrorCode::state,
                    "GradScaler: can only be serialised at the start or after update()");
    }
    GradScaler copy(options_);
    copy.initial_ = now();
    return copy;
}

inline bool GradScaler::skipped(const Optimizer& optimizer) const {
    const auto found = records_.find(&optimizer);
    return found != records_.end() && found->second.stage == Stage::stepped &&
           scaling::any_set(found->second.found_inf);
}

}  // namespace engine
