#include "optim/grad_scaler.h"

#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

bool any_set(const std::vector<Tensor>& flags) {
    for (const auto& flag : flags) {
        if (flag.item() != 0) return true;
    }
    return false;
}

/// The flags, one a device, added up on `device`; undefined if there is none.
Tensor sum_of_flags(const std::vector<Tensor>& flags, const Device& device) {
    Tensor total;
    for (const auto& flag : flags) {
        const Tensor here = flag.copy_to(device);
        total = total.defined() ? add(total, here) : here;
    }
    return total;
}

/// Gradients of one device, as a multi-tensor pass takes them.
struct DeviceGradients {
    Device device;
    std::vector<kernels::Array> arrays;
};

/// Values of a gradient that the check reads, dense in memory. For a sparse one its stored values;
/// in f16 with those of one place added up, which may overflow.
Tensor values_to_check(const Tensor& grad) {
    if (!grad.is_sparse()) return dense(grad);
    return sparse_parts(grad.dtype() == DType::f16 ? coalesce(grad) : grad).values;
}

std::vector<kernels::Array>& of_device(std::vector<DeviceGradients>& groups, const Device& device) {
    for (auto& group : groups) {
        if (group.device == device) return group.arrays;
    }
    groups.push_back({device, {}});
    return groups.back().arrays;
}

}  // namespace

GradScaler::GradScaler(const ScalerOptions& options)
    : options_(options), init_hysteresis_(options.hysteresis) {
    if (!options.enabled) return;
    if (!(options.growth_factor > 1))
        throw Error(ErrorCode::state, "GradScaler: growth_factor must be above 1");
    if (!(options.backoff_factor < 1))
        throw Error(ErrorCode::state, "GradScaler: backoff_factor must be below 1");
}

void GradScaler::create_state(const Device& device) {
    scale_ = Tensor::full({}, options_.init_scale, DType::f32, device);
    tracker_ = Tensor::full({}, init_growth_tracker_, DType::i32, device);
    hysteresis_ = Tensor::full({}, init_hysteresis_, DType::i32, device);
}

void GradScaler::require_scale(const char* call) const {
    if (!scale_.defined()) {
        throw Error(ErrorCode::state, std::string("GradScaler.") + call + ": there is no scale yet",
                    "Call scale() on the loss first.");
    }
}

Tensor GradScaler::scale(const Tensor& x) {
    if (!options_.enabled) return x;
    if (!x.defined())
        throw Error(ErrorCode::value,
                    "GradScaler.scale: only tensors and lists of them can be scaled");
    if (!scale_.defined()) create_state(x.device());
    return mul(x, scale_on(x.device()));
}

Tensor GradScaler::scale_on(const Device& device) const { return scale_.copy_to(device); }

void GradScaler::unscale_gradients(const Optimizer& optimizer, Record& record) const {
    std::vector<DeviceGradients> groups;
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
            of_device(groups, grad.device()).push_back(sparse_parts(grad).values.array());
            grad.bump_version();
            continue;
        }
        if (!is_dense(grad)) parameter.tensor.set_grad(in_layout(grad, Layout::contiguous));
        of_device(groups, grad.device()).push_back(parameter.tensor.grad().array());
        parameter.tensor.grad().bump_version();
    }
    const GradMode off(false);
    for (const auto& [device, arrays] : groups) {
        const DeviceScope scope(device);
        const Tensor found_inf = Tensor::zeros({}, DType::f32, device);
        const Tensor inv_scale = to(reciprocal(to(scale_on(device), DType::f64)), DType::f32);
        on(device, kernels::cpu::multi_tensor_unscale, kernels::cuda::multi_tensor_unscale)(
            arrays, inv_scale.data_as<float>(), found_inf.data_as<float>(), current_stream());
        record.found_inf.push_back(found_inf);
    }
}

void GradScaler::compute_gradient_statistics(const Optimizer& optimizer, Record& record) const {
    std::vector<kernels::ConstArray> grads;
    TensorList held;
    grads.reserve(optimizer.parameters().size());
    held.reserve(optimizer.parameters().size());
    for (const auto& parameter : optimizer.parameters()) {
        const Tensor grad = parameter.tensor.grad();
        if (!grad.defined()) continue;
        held.push_back(values_to_check(grad));
        grads.push_back(held.back().array());
    }
    if (grads.empty()) return;
    const Device& device = optimizer.device();
    const DeviceScope scope(device);
    const DeviceRecord<kernels::GradientStatistics> gradient_statistics(device);
    on(device, kernels::cpu::multi_tensor_gradient_check,
       kernels::cuda::multi_tensor_gradient_check)(gradient_statistics.data(), grads,
                                                   current_stream());
    record.gradient_statistics = gradient_statistics;
    // Beside what unscale_ found: the gradients may have been changed since.
    record.found_inf.push_back(
        record.gradient_statistics.field(&kernels::GradientStatistics::found_inf));
}

void GradScaler::unscale_(Optimizer& optimizer) {
    if (!options_.enabled) return;
    require_scale("unscale_");
    Record& record = record_of(optimizer);
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

bool GradScaler::step_plain(Optimizer& optimizer, Record& record) {
    if (record.stage == Stage::ready) {
        unscale_gradients(optimizer, record);
        record.stage = Stage::unscaled;
    }
    if (record.found_inf.empty()) {
        throw Error(
            ErrorCode::state,
            "GradScaler.step: no inf checks for this optimizer: no parameter has a gradient");
    }
    const bool apply = !any_set(record.found_inf);
    if (apply) optimizer.step();
    record.stage = Stage::stepped;
    return apply;
}

const DeviceRecord<kernels::GradientStatistics>& GradScaler::check_gradients(Optimizer& optimizer) {
    require_scale("check_gradients");
    Record& record = record_of(optimizer);
    if (!record.gradient_statistics.defined()) compute_gradient_statistics(optimizer, record);
    return record.gradient_statistics;
}

namespace {

/// Puts an optimizer's device values back as its user left them, also when its step throws.
struct StepValues {
    Optimizer& optimizer;
    Tensor users_grad_scale = optimizer.grad_scale;
    ~StepValues() {
        optimizer.grad_scale = users_grad_scale;
        optimizer.found_inf = {};
    }
};

}  // namespace

bool GradScaler::step_aware(Optimizer& optimizer, Record& record) {
    const StepValues values{optimizer};
    const Tensor& users = values.users_grad_scale;
    if (record.stage == Stage::ready) {
        if (!record.gradient_statistics.defined()) compute_gradient_statistics(optimizer, record);
        const Tensor scale = scale_on(optimizer.device());
        optimizer.grad_scale = users.defined() ? mul(users, scale) : scale;
    }
    optimizer.found_inf = sum_of_flags(record.found_inf, optimizer.device());
    optimizer.step();
    record.stage = Stage::stepped;
    return true;
}

bool GradScaler::step(Optimizer& optimizer) {
    if (!options_.enabled) {
        optimizer.step();
        return true;
    }
    require_scale("step");
    Record& record = record_of(optimizer);
    if (record.stage == Stage::stepped) {
        throw Error(ErrorCode::state, "GradScaler.step: already stepped since the last update()");
    }
    return optimizer.scaling_aware() ? step_aware(optimizer, record)
                                     : step_plain(optimizer, record);
}

void GradScaler::update() {
    if (!options_.enabled) return;
    kernels::StepEnding ending;
    const Tensor found_inf = leave_update_to(ending);
    on(scale_.device(), kernels::cpu::update_scale, kernels::cuda::update_scale)(
        ending.scale, ending.growth_tracker, ending.hysteresis_left, ending.found_inf, ending.rule,
        current_stream());
}

Tensor GradScaler::leave_update_to(kernels::StepEnding& ending) {
    require_scale("update");
    std::vector<Tensor> flags;
    for (const auto& [optimizer, record] : records_)
        flags.insert(flags.end(), record.found_inf.begin(), record.found_inf.end());
    const Tensor total = sum_of_flags(flags, scale_.device());
    if (!total.defined()) {
        throw Error(ErrorCode::state,
                    "GradScaler.update: no inf checks were recorded since the last update()");
    }
    ending.scale = scale_.data_as<float>();
    ending.growth_tracker = tracker_.data_as<std::int32_t>();
    ending.hysteresis_left = hysteresis_.data_as<std::int32_t>();
    ending.found_inf = total.data_as<float>();
    ending.rule = options_.update();
    scale_.bump_version();
    records_.clear();
    return total;
}

void GradScaler::update(double new_scale) {
    if (!options_.enabled) return;
    require_scale("update");
    on(scale_.device(), kernels::cpu::fill, kernels::cuda::fill)(scale_.array(), new_scale,
                                                                 current_stream());
    scale_.bump_version();
    records_.clear();
}

void GradScaler::update(const Tensor& new_scale) {
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

double GradScaler::loss_scale() const {
    if (!options_.enabled) return 1.0;
    return scale_.defined() ? scale_.item()
                            : static_cast<double>(static_cast<float>(options_.init_scale));
}

std::int64_t GradScaler::growth_tracker() const {
    if (!options_.enabled) return 0;
    return tracker_.defined() ? static_cast<std::int64_t>(tracker_.item()) : init_growth_tracker_;
}

std::int32_t GradScaler::hysteresis_tracker() const {
    return hysteresis_.defined() ? static_cast<std::int32_t>(hysteresis_.item()) : init_hysteresis_;
}

GradScaler::State GradScaler::saved_state() const {
    if (!options_.enabled) return {};
    State out{{"scale", loss_scale()},
              {"growth_factor", options_.growth_factor},
              {"backoff_factor", options_.backoff_factor},
              {"growth_interval", static_cast<double>(options_.growth_interval)},
              {"growth_tracker", static_cast<double>(growth_tracker())}};
    if (options_.hysteresis > 1) out["hysteresis_tracker"] = hysteresis_tracker();
    return out;
}

void GradScaler::load_state(const State& state) {
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
    init_growth_tracker_ = static_cast<std::int32_t>(value("growth_tracker"));
    const auto left = state.find("hysteresis_tracker");
    init_hysteresis_ =
        left != state.end() ? static_cast<std::int32_t>(left->second) : options_.hysteresis;
    options_ = loaded;
    if (!scale_.defined()) return;
    const auto fill = on(scale_.device(), kernels::cpu::fill, kernels::cuda::fill);
    fill(scale_.array(), options_.init_scale, current_stream());
    fill(tracker_.array(), init_growth_tracker_, current_stream());
    fill(hysteresis_.array(), init_hysteresis_, current_stream());
    scale_.bump_version();
}

GradScaler GradScaler::serialised() const {
    if (!records_.empty()) {
        throw Error(ErrorCode::state,
                    "GradScaler: can only be serialised at the start or after update()");
    }
    GradScaler copy(options_);
    if (options_.enabled) {
        copy.options_.init_scale = loss_scale();
        copy.init_growth_tracker_ = static_cast<std::int32_t>(growth_tracker());
        copy.init_hysteresis_ = hysteresis_tracker();
    }
    return copy;
}

bool GradScaler::skipped(const Optimizer& optimizer) const {
    const auto found = records_.find(&optimizer);
    return found != records_.end() && found->second.stage == Stage::stepped &&
           any_set(found->second.found_inf);
}

std::optional<kernels::GradientStatistics> GradScaler::gradient_statistics(
    const Optimizer& optimizer) const {
    const auto found = records_.find(&optimizer);
    if (found == records_.end() || !found->second.gradient_statistics.defined())
        return std::nullopt;
    return found->second.gradient_statistics.host();
}

}  // namespace engine
