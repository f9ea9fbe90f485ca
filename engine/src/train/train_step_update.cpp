// What a step does with its gradients: check them, clip, update.

#include "core/cast.h"
#include "core/deferred_errors.h"
#include "core/layout.h"
#include "core/profiler_range.h"
#include "core/sparse.h"
#include "index/sparse.h"
#include "kernels/multi_tensor.h"
#include "kernels/scaler.h"
#include "kernels/step_figures.h"
#include "pointwise/binary.h"
#include "pointwise/unary.h"
#include "train/train_step.h"

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
    for (const std::size_t part : phase.optimizers) {
        for (const Tensor& parameter : parts_[part].tensors) {
            const Tensor grad = parameter.grad();
            if (grad.defined() && grad.is_sparse()) parameter.set_grad(coalesce(grad));
        }
    }
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

void TrainStep::gather(const kernels::StepSources& sources) const {
    on(device_, kernels::cpu::gather_step, kernels::cuda::gather_step)(figures_.data(), sources,
                                                                       current_stream());
}

/// What the update overwrites.
void TrainStep::gather_before() {
    const Tensor scale = precision_.loss_scale();
    kernels::StepSources sources;
    sources.sums = sums_.data();
    sources.gradient_statistics =
        merged_.defined() ? merged_.data() : parts_.front().gradient_statistics.data();
    sources.lr = parts_.front().optimizer->lr_tensor().data_as<float>();
    sources.scaled_f16_max = f16_max_.data_as<float>();
    sources.state_resets = state_.resets();
    if (scale.defined()) sources.loss_scale = scale.data_as<float>();
    gather(sources);
}

void TrainStep::gather_after() {
    kernels::StepSources sources;
    if (precision_.scaler().is_enabled())
        sources.growth_tracker = precision_.scaler().tracker_tensor().data_as<std::int32_t>();
    sources.deferred_error = deferred_error_word_of(device_);
    sources.counts = parts_.front().optimizer->counts().data();
    for (std::size_t i = 0; i < parts_.size(); ++i)
        sources.updates[i] = parts_[i].optimizer->steps_tensor().data_as<std::int64_t>();
    if (const Tensor scale = precision_.loss_scale(); scale.defined())
        sources.next_loss_scale = scale.data_as<float>();
    gather(sources);
}

void TrainStep::update(const Phase& phase, bool last) {
    for (const std::size_t part : phase.optimizers)
        parts_[part].optimizer->set_lr(schedule_, rate_multiplier_.data_as<double>());
    for (const std::size_t part : phase.optimizers) check_gradients(parts_[part]);
    if (last && ranks_) share_figures();
    if (last) gather_before();
    for (const std::size_t part : phase.optimizers) {
        if (config_.clip.kind != ClipKind::none) clip(parts_[part]);
        step_optimizer(parts_[part]);
    }
    notify(static_cast<std::size_t>(&phase - phases_.data()), 0,
           [](StepObserver& each, const StepView& step) { each.after_update(step); });
    if (!last) return;
    if (precision_.scaler().is_enabled()) precision_.scaler().update();
    if (random_.used()) {
        std::int64_t* const number = number_.data_as<std::int64_t>();
        on(device_, kernels::cpu::advance_step, kernels::cuda::advance_step)({&number, 1}, nullptr,
                                                                             current_stream());
    }
    gather_after();
}

}  // namespace engine
