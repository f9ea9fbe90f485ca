#include "optim/loss_scaler.h"

#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "tensor/layout.h"

namespace engine {

void check_gradients(const DeviceRecord<kernels::GradientStatistics>& out,
                     std::span<const Tensor> gradients) {
    std::vector<kernels::ConstArray> arrays;
    TensorList held;
    arrays.reserve(gradients.size());
    held.reserve(gradients.size());
    for (const Tensor& grad : gradients) {
        if (!grad.defined()) continue;
        const bool sparse = grad.is_sparse();
        const Tensor whole = sparse && grad.dtype() == DType::f16 ? coalesce(grad) : grad;
        held.push_back(dense(sparse ? sparse_parts(whole).values : whole));
        arrays.push_back(held.back().array());
    }
    on(out.device(), kernels::cpu::multi_tensor_gradient_check,
       kernels::cuda::multi_tensor_gradient_check)(out.data(), arrays, current_stream());
}

Tensor sum_of_flags(const TensorList& flags, const Device& device) {
    Tensor total;
    for (const Tensor& flag : flags) {
        const Tensor here = flag.copy_to(device);
        total = total.defined() ? add(total, here) : here;
    }
    return total;
}

void move_scale(const DeviceRecord<kernels::ScaleState>& state, const Tensor& found_inf,
                const kernels::ScaleUpdate& rule) {
    kernels::ScaleState* const at = state.data();
    on(state.device(), kernels::cpu::update_scale, kernels::cuda::update_scale)(
        &at->scale, &at->growth_tracker, &at->hysteresis_left, found_inf.data_as<float>(), rule,
        current_stream());
}

std::map<std::string, double> named_values(const kernels::ScaleState& state,
                                           const kernels::ScaleUpdate& rule) {
    std::map<std::string, double> out{
        {"scale", static_cast<double>(state.scale)},
        {"growth_factor", rule.growth_factor},
        {"backoff_factor", rule.backoff_factor},
        {"growth_interval", static_cast<double>(rule.growth_interval)},
        {"growth_tracker", state.growth_tracker}};
    if (rule.hysteresis > 1) out["hysteresis_tracker"] = state.hysteresis_left;
    return out;
}

LossScaler::LossScaler(ScalerMode mode, const ScalerConfig& config, const Device& device)
    : dynamic_(mode == ScalerMode::dynamic),
      rule_{.growth_factor = config.growth_factor,
            .backoff_factor = config.backoff_factor,
            .growth_interval = config.growth_interval,
            .min_scale = config.min_scale,
            .max_scale = config.max_scale,
            .hysteresis = static_cast<int>(config.hysteresis)} {
    if (mode == ScalerMode::off) return;
    state_ = DeviceRecord<kernels::ScaleState>(device);
    state_.set({static_cast<float>(config.init_scale), 0, rule_.hysteresis});
    scale_ = state_.field(&kernels::ScaleState::scale);
}

Tensor LossScaler::scaled(const Tensor& loss) const {
    return scale_.defined() ? mul(loss, scale_) : loss;
}

void LossScaler::step(Optimizer& optimizer,
                      const DeviceRecord<kernels::GradientStatistics>& checked) {
    optimizer.grad_scale = scale_;
    if (dynamic_) {
        optimizer.found_inf = checked.field(&kernels::GradientStatistics::found_inf);
        found_inf_.push_back(optimizer.found_inf);
    }
    optimizer.step();
    optimizer.found_inf = {};
}

Tensor LossScaler::end(kernels::StepEnding& ending) {
    if (!scale_.defined()) return {};
    kernels::ScaleState* const at = state_.data();
    ending.before.loss_scale = ending.after.next_loss_scale = &at->scale;
    if (!dynamic_) return {};
    const Tensor found_inf = sum_of_flags(found_inf_, state_.device());
    ending.scale = &at->scale;
    ending.growth_tracker = &at->growth_tracker;
    ending.after.growth_tracker = &at->growth_tracker;
    ending.hysteresis_left = &at->hysteresis_left;
    ending.found_inf = found_inf.data_as<float>();
    ending.rule = rule_;
    scale_.bump_version();
    return found_inf;
}

void LossScaler::move_by(const TensorList& flags) {
    found_inf_.insert(found_inf_.end(), flags.begin(), flags.end());
    move_scale(state_, sum_of_flags(found_inf_, state_.device()), rule_);
    scale_.bump_version();
    found_inf_.clear();
}

std::map<std::string, double> LossScaler::saved_state() const {
    return dynamic_ ? named_values(state_.host(), rule_) : std::map<std::string, double>();
}

void LossScaler::load_state(const kernels::ScaleState& saved) {
    state_.set(saved);
    scale_.bump_version();
}

}  // namespace engine
