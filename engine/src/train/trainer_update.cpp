// What a step does with its gradients: judge them, clip, update.

#include "core/cast.h"
#include "core/layout.h"
#include "core/refusals.h"
#include "kernels/multi_tensor.h"
#include "kernels/scaler.h"
#include "kernels/step_figures.h"
#include "pointwise/binary.h"
#include "pointwise/unary.h"
#include "train/schedule.h"
#include "train/trainer.h"

namespace engine {

/// 0-d f32 on the device; undefined without a scaler.
Tensor Trainer::loss_scale() const {
    return scaler_->is_enabled() ? scaler_->scale_tensor() : static_scale_;
}

void Trainer::judge() {
    if (scaler_->is_enabled()) {
        judgement_ = scaler_->judge(*optimizer_);
        return;
    }
    std::vector<kernels::ConstArray> grads;
    TensorList held;
    for (const auto& parameter : model_->parameters()) {
        if (!parameter.tensor.grad().defined()) continue;
        held.push_back(dense(parameter.tensor.grad()));
        grads.push_back(held.back().array());
    }
    if (!judgement_.defined()) judgement_ = DeviceRecord<kernels::Judgement>(device_);
    on(device_, kernels::cpu::multi_tensor_judge, kernels::cuda::multi_tensor_judge)(
        judgement_.data(), grads, current_stream());
}

void Trainer::clip_by_value() {
    const GradMode off(false);
    const Tensor scale = loss_scale();
    for (const auto& parameter : model_->parameters()) {
        const Tensor grad = parameter.tensor.grad();
        if (!grad.defined()) continue;
        const Tensor bound = scale.defined()
                                 ? to(mul(scale, config_.clip.value), grad.dtype())
                                 : Tensor::scalar(config_.clip.value, grad.dtype(), device_);
        parameter.tensor.set_grad(minimum(maximum(grad, neg(bound)), bound));
    }
}

void Trainer::clip() {
    if (config_.clip.kind == "value") {
        clip_by_value();
    } else if (config_.clip.kind == "norm") {
        const Tensor scale = loss_scale();
        optimizer_->clip = Tensor::empty({}, DType::f32, device_);
        on(device_, kernels::cpu::clip_coefficient, kernels::cuda::clip_coefficient)(
            optimizer_->clip.data_as<float>(), &judgement_.data()->sum_squares,
            scale.defined() ? scale.data_as<float>() : nullptr, config_.clip.value,
            current_stream());
    }
}

void Trainer::gather(const kernels::StepSources& sources) const {
    on(device_, kernels::cpu::gather_step, kernels::cuda::gather_step)(figures_.data(), sources,
                                                                       current_stream());
}

void Trainer::apply_update() {
    optimizer_->set_lr(schedule_of(config_, planned_));
    judge();
    const Tensor scale = loss_scale();
    kernels::StepSources before;
    before.tally = tally_.data();
    before.judgement = judgement_.data();
    before.lr = optimizer_->lr_tensor().data_as<float>();
    before.scaled_f16_max = f16_max_.data_as<float>();
    if (scale.defined()) before.loss_scale = scale.data_as<float>();
    gather(before);
    if (config_.clip.kind != "none") clip();
    kernels::StepSources after;
    if (scaler_->is_enabled()) {
        scaler_->step(*optimizer_);
        scaler_->update();
        after.growth_tracker = scaler_->tracker_tensor().data_as<std::int32_t>();
    } else {
        optimizer_->grad_scale = static_scale_;
        optimizer_->step();
    }
    after.refusal = refusal_note(device_);
    after.counts = optimizer_->counts().data();
    after.updates = optimizer_->steps_tensor().data_as<std::int64_t>();
    if (scale.defined()) after.next_loss_scale = scale.data_as<float>();
    gather(after);
}

}  // namespace engine
