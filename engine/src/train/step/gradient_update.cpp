#include "train/step/gradient_update.h"

#include <algorithm>
#include <utility>

#include "kernels/elementwise.h"
#include "kernels/multi_tensor.h"
#include "kernels/scaler.h"
#include "models/weight_layout.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "tensor/cast.h"
#include "tensor/profiler_range.h"
#include "train/step/make_optimizer.h"

namespace engine {

GradientUpdate::GradientUpdate(const RunConfig& config, Task& task, Model& model,
                               MixedPrecision& precision, const Device& device,
                               const PlannedSteps& planned)
    : clip_(config.clip),
      device_(device),
      scaler_(precision.scaler()),
      schedule_(make_schedule(config, planned)) {
    lay_out_weights(model);
    const OptimizerOptions options{.scaling_aware = true,
                                   .master_weights = resolve(config.precision).master_weights,
                                   .write_grads = false};
    // Sparse gradients of tables where every optimizer benefits from them. Not with a gradient
    // penalty, which differentiates gradients; sparse ones do not support that.
    model.sparse_gradients = config.gradient_penalty == 0;
    for (std::vector<Parameter>& parameters : task.optimized(model)) {
        std::erase_if(parameters,
                      [](const Parameter& each) { return !each.tensor.requires_grad(); });
        Part part;
        for (const Parameter& parameter : parameters) part.tensors.push_back(parameter.tensor);
        part.optimizer = make_optimizer(config.optimizer, std::move(parameters), options);
        optimizers_.push_back(part.optimizer.get());
        model.sparse_gradients = model.sparse_gradients && part.optimizer->takes_sparse_gradients();
        parts_.push_back(std::move(part));
    }
    precision.attach_low_copies(model);
    for (const Part& part : parts_) lay_out_recurrent_weights(part.optimizer->parameters());
    const UseScope use(MemoryUse::workspace);
    for (Part& part : parts_) part.checked = DeviceRecord<kernels::GradientStatistics>(device_);
    if (parts_.size() > 1) merged_ = DeviceRecord<kernels::GradientStatistics>(device_);
    rate_multiplier_ = Tensor::full({}, 1, DType::f64, device_);
}

TensorList GradientUpdate::parameters(const Phase& phase) const {
    TensorList parameters;
    for (const std::size_t part : phase.optimizers) {
        const TensorList& own = parts_[part].tensors;
        parameters.insert(parameters.end(), own.begin(), own.end());
    }
    return parameters;
}

void GradientUpdate::begin(kernels::StepBeginning& first) const {
    static_assert(sizeof(kernels::GradientStatistics) % 4 == 0);
    if (merged_.defined())
        first.zeros[3] = {merged_.data(), sizeof(kernels::GradientStatistics) / 4};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        first.lr[i] = optimizers_[i]->lr_tensor().data_as<float>();
        first.updates[i] = optimizers_[i]->steps_tensor().data_as<std::int64_t>();
    }
    first.multiplier = rate_multiplier_.data_as<double>();
    first.schedule = schedule_;
    scaler_.begin();
}

void GradientUpdate::zero_grad(const Phase& phase) const {
    for (const std::size_t part : phase.optimizers) optimizers_[part]->zero_grad();
}

void GradientUpdate::complete(const Phase& phase) const {
    TensorList parameters, sparse;
    for (const Tensor& parameter : this->parameters(phase)) {
        const Tensor grad = parameter.grad();
        if (!grad.defined() || !grad.is_sparse()) continue;
        parameters.push_back(parameter);
        sparse.push_back(grad);
    }
    const TensorList coalesced = coalesce(sparse);
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].set_grad(coalesced[i]);
    for (const Part& part : parts_) {
        for (const Tensor& parameter : part.tensors) {
            if (const Tensor grad = parameter.grad(); grad.defined())
                grad.impl()->storage->block.account_as(MemoryUse::gradients);
        }
    }
}

TensorList GradientUpdate::check(const Phase& phase) const {
    TensorList flags;
    for (const std::size_t part : phase.optimizers) {
        const ProfilerRange range("gradient check");
        TensorList gradients;
        for (const Tensor& parameter : parts_[part].tensors) gradients.push_back(parameter.grad());
        check_gradients(parts_[part].checked, gradients);
        flags.push_back(parts_[part].checked.field(&kernels::GradientStatistics::found_inf));
    }
    return flags;
}

void GradientUpdate::clip_by_value(const Part& part) const {
    const GradMode off(false);
    const Tensor scale = scaler_.clip_scale();
    for (const Tensor& parameter : part.tensors) {
        const Tensor grad = parameter.grad();
        if (!grad.defined()) continue;
        const Tensor values = grad.is_sparse() ? sparse_parts(grad).values : grad;
        const Tensor bound = scale.defined() ? to(mul(scale, clip_.value), grad.dtype())
                                             : Tensor::scalar(clip_.value, grad.dtype(), device_);
        const Tensor clipped = minimum(maximum(values, neg(bound)), bound);
        parameter.set_grad(grad.is_sparse() ? with_values(grad, clipped) : clipped);
    }
}

void GradientUpdate::clip(const Part& part) const {
    if (clip_.kind == ClipKind::value) return clip_by_value(part);
    if (clip_.kind == ClipKind::none) return;
    const Tensor scale = scaler_.clip_scale();
    part.optimizer->clip = Tensor::empty({}, DType::f32, device_);
    on(device_, kernels::cpu::clip_coefficient, kernels::cuda::clip_coefficient)(
        part.optimizer->clip.data_as<float>(), &part.checked.data()->sum_squares,
        scale.defined() ? scale.data_as<float>() : nullptr, clip_.value, current_stream());
}

void GradientUpdate::step(const Phase& phase) const {
    for (const std::size_t part : phase.optimizers) {
        if (!merged_.defined()) break;
        on(device_, kernels::cpu::merge_gradient_statistics,
           kernels::cuda::merge_gradient_statistics)(merged_.data(), parts_[part].checked.data(),
                                                     current_stream());
    }
    for (const std::size_t part : phase.optimizers) {
        clip(parts_[part]);
        const ProfilerRange range("update");
        scaler_.step(*optimizers_[part], parts_[part].checked);
    }
}

Tensor GradientUpdate::end(kernels::StepEnding& last) const {
    last.before.gradient_statistics =
        merged_.defined() ? merged_.data() : parts_.front().checked.data();
    last.before.lr = optimizers_.front()->lr_tensor().data_as<float>();
    last.after.counts = optimizers_.front()->counts().data();
    for (std::size_t i = 0; i < parts_.size(); ++i)
        last.after.updates[i] = optimizers_[i]->steps_tensor().data_as<std::int64_t>();
    return scaler_.end(last);
}

void GradientUpdate::zero_grad() const {
    for (Optimizer* const optimizer : optimizers_) optimizer->zero_grad();
}

void GradientUpdate::note_replay() const {
    for (Optimizer* const optimizer : optimizers_) optimizer->note_replay();
}

void GradientUpdate::forget_captured() const {
    zero_grad();
    // One live block keeps the capture's whole memory pool alive, so release these references.
    for (Optimizer* const optimizer : optimizers_) optimizer->clip = {};
}

void GradientUpdate::set_rate_multiplier(double multiplier) const {
    on(device_, kernels::cpu::fill, kernels::cuda::fill)(rate_multiplier_.array(), multiplier,
                                                         current_stream());
}

}  // namespace engine
