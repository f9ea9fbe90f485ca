// The part of a step that works on its gradients: check, clip, update.

#include "kernels/multi_tensor.h"
#include "kernels/scaler.h"
#include "kernels/step_ends.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "tensor/cast.h"
#include "tensor/deferred_errors.h"
#include "tensor/layout.h"
#include "tensor/profiler_range.h"
#include "tensor/tensor.h"
#include "train/step/train_step.h"

namespace engine {
namespace {

/// The values of a gradient, dense in memory; of a coalesced sparse one those that it holds.
Tensor gradient_values(const Tensor& grad) {
    return dense(grad.is_sparse() ? sparse_parts(grad).values : grad);
}

}  // namespace

/// Norms and bounds are defined for the gradients as dense tensors, so the entries of each place of
/// a sparse one are added up first.
void TrainStep::coalesce_gradients(const Phase& phase) {
    TensorList parameters, sparse;
    for (const std::size_t part : phase.optimizers) {
        for (const Tensor& parameter : parts_[part].tensors) {
            const Tensor grad = parameter.grad();
            if (!grad.defined() || !grad.is_sparse()) continue;
            parameters.push_back(parameter);
            sparse.push_back(grad);
        }
    }
    const TensorList coalesced = coalesce(sparse);
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].set_grad(coalesced[i]);
}

void TrainStep::check_gradients(Part& part) {
    const ProfilerRange range("gradient check");
    GradScaler& scaler = precision_.scaler();
    if (scaler.is_enabled()) {
        part.gradient_statistics = scaler.check_gradients(*part.optimizer);
    } else {
        std::vector<kernels::ConstArray> grads;
        TensorList held;
        grads.reserve(part.tensors.size());
        held.reserve(part.tensors.size());
        for (const Tensor& parameter : part.tensors) {
            const Tensor grad = parameter.grad();
            if (!grad.defined()) continue;
            held.push_back(gradient_values(grad));
            grads.push_back(held.back().array());
        }
        if (!part.gradient_statistics.defined())
            part.gradient_statistics = DeviceRecord<kernels::GradientStatistics>(device_);
        on(device_, kernels::cpu::multi_tensor_gradient_check,
           kernels::cuda::multi_tensor_gradient_check)(part.gradient_statistics.data(), grads,
                                                       current_stream());
    }
    if (!merged_.defined()) return;
    on(device_, kernels::cpu::merge_gradient_statistics, kernels::cuda::merge_gradient_statistics)(
        merged_.data(), part.gradient_statistics.data(), current_stream());
}

/// The factor on the gradients, for clipping. With teach.clip_before_unscale it is 1, as if they
/// were unscaled.
Tensor TrainStep::clip_scale() const {
    return config_.teach.clip_before_unscale ? Tensor() : precision_.loss_scale();
}

void TrainStep::clip_by_value(const Part& part) {
    const GradMode off(false);
    const Tensor scale = clip_scale();
    for (const Tensor& parameter : part.tensors) {
        const Tensor grad = parameter.grad();
        if (!grad.defined()) continue;
        const Tensor values = grad.is_sparse() ? sparse_parts(grad).values : grad;
        const Tensor bound = scale.defined()
                                 ? to(mul(scale, config_.clip.value), grad.dtype())
                                 : Tensor::scalar(config_.clip.value, grad.dtype(), device_);
        const Tensor clipped = minimum(maximum(values, neg(bound)), bound);
        parameter.set_grad(grad.is_sparse() ? with_values(grad, clipped) : clipped);
    }
}

void TrainStep::clip(Part& part) {
    if (config_.clip.kind == ClipKind::value) {
        clip_by_value(part);
    } else if (config_.clip.kind == ClipKind::norm) {
        const Tensor scale = clip_scale();
        part.optimizer->clip = Tensor::empty({}, DType::f32, device_);
        on(device_, kernels::cpu::clip_coefficient, kernels::cuda::clip_coefficient)(
            part.optimizer->clip.data_as<float>(), &part.gradient_statistics.data()->sum_squares,
            scale.defined() ? scale.data_as<float>() : nullptr, config_.clip.value,
            current_stream());
    }
}

void TrainStep::step_optimizer(Part& part) {
    const ProfilerRange range("update");
    if (precision_.scaler().is_enabled()) {
        precision_.scaler().step(*part.optimizer);
    } else {
        part.optimizer->grad_scale = precision_.static_scale();
        part.optimizer->step();
    }
}

/// The figures of the step, the scale of the next one, and the step's number, by one kernel.
void TrainStep::end() {
    kernels::StepEnding last;
    const Tensor scale = precision_.loss_scale();
    last.before.sums = sums_.data();
    last.before.gradient_statistics =
        merged_.defined() ? merged_.data() : parts_.front().gradient_statistics.data();
    last.before.lr = parts_.front().optimizer->lr_tensor().data_as<float>();
    last.before.scaled_f16_max = f16_max_.data_as<float>();
    last.before.state_resets = state_.resets();
    if (scale.defined()) last.before.loss_scale = scale.data_as<float>();
    Tensor found_inf;  // held until the kernel is launched
    if (precision_.scaler().is_enabled()) found_inf = precision_.scaler().leave_update_to(last);
    if (random_.used()) last.number = number_.data_as<std::int64_t>();
    if (precision_.scaler().is_enabled())
        last.after.growth_tracker = precision_.scaler().tracker_tensor().data_as<std::int32_t>();
    last.after.deferred_error = deferred_error_word_of(device_);
    last.after.counts = parts_.front().optimizer->counts().data();
    for (std::size_t i = 0; i < parts_.size(); ++i)
        last.after.updates[i] = parts_[i].optimizer->steps_tensor().data_as<std::int64_t>();
    if (scale.defined()) last.after.next_loss_scale = scale.data_as<float>();
    last.slots = slots_;
    on(device_, kernels::cpu::end_step, kernels::cuda::end_step)(figures_.data(), last,
                                                                 current_stream());
}

void TrainStep::update(const Phase& phase, bool last) {
    for (const std::size_t part : phase.optimizers) check_gradients(parts_[part]);
    if (last && ranks_) share_figures();
    for (const std::size_t part : phase.optimizers) {
        if (config_.clip.kind != ClipKind::none) clip(parts_[part]);
        step_optimizer(parts_[part]);
    }
    notify(static_cast<std::size_t>(&phase - phases_.data()), 0,
           [](StepObserver& each, const StepView& step) { each.after_update(step); });
    if (last) end();
}

}  // namespace engine
