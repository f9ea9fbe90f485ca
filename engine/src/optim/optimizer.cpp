#include "optim/optimizer.h"

#include "core/autograd.h"
#include "engine/error.h"
#include "kernels/elementwise.h"
#include "kernels/scaler.h"
#include "ops/cast.h"
#include "ops/layout.h"

namespace engine {

Optimizer::Optimizer(std::vector<Parameter> parameters, const OptimizerOptions& options, double lr)
    : parameters_(std::move(parameters)), options_(options), slots_(parameters_.size()) {
    if (!(lr >= 0))
        throw Error(ErrorCode::value,
                    "optimizer: the learning rate must not be negative, got " + std::to_string(lr));
    const Device device = parameters_.empty() ? Device{} : parameters_.front().tensor.device();
    lr_ = Tensor::full({}, lr, DType::f32, device);
    step_ = Tensor::zeros({}, DType::i64, device);
    counts_ = DeviceRecord<kernels::UpdateCounts>(device);
    counts_.clear();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (!(parameters_[i].tensor.device() == device)) {
            throw Error(ErrorCode::value,
                        msg("optimizer: parameter {} lies on another device; give each device an "
                            "optimizer of its own",
                            parameters_[i].name));
        }
        if (!is_dense(parameters_[i].tensor)) {
            throw Error(ErrorCode::value,
                        msg("optimizer: parameter {} is not dense in memory", parameters_[i].name));
        }
        make_master(i);
    }
}

Optimizer::~Optimizer() = default;

double Optimizer::lr() const { return lr_.item(); }

void Optimizer::set_lr(double lr) {
    on(lr_.device(), kernels::cpu::fill, kernels::cuda::fill)(lr_.array(), lr, current_stream());
}

void Optimizer::set_lr(const kernels::LearningRateSchedule& schedule) {
    on(lr_.device(), kernels::cpu::set_learning_rate, kernels::cuda::set_learning_rate)(
        lr_.data_as<float>(), step_.data_as<std::int64_t>(), schedule, current_stream());
}

std::int64_t Optimizer::steps() const { return static_cast<std::int64_t>(step_.item()); }

void Optimizer::note_replay() {
    for (const std::size_t i : updated_) written(i);
}

void Optimizer::zero_grad() {
    for (const auto& parameter : parameters_) parameter.tensor.set_grad({});
}

void Optimizer::make_master(std::size_t i) {
    const Tensor& weight = parameters_[i].tensor;
    if (!options_.master_weights || !is_low(weight.dtype())) return;
    const GradMode off(false);
    const UseScope use(MemoryUse::masters);
    slots_[i].master = to(weight.detach(), DType::f32);
}

Tensor Optimizer::new_state(std::size_t i, bool may_be_low) const {
    const Tensor& values = stored(i);
    const DType dtype = is_low(values.dtype()) && !may_be_low ? DType::f32 : values.dtype();
    const UseScope use(MemoryUse::optimizer);
    Tensor state = empty_like(dense(values), dtype);
    on(state.device(), kernels::cpu::fill, kernels::cuda::fill)(state.array(), 0.0,
                                                                current_stream());
    return state;
}

namespace {

kernels::Array array_or_null(const Tensor& tensor) {
    return tensor.defined() ? tensor.array() : kernels::Array{nullptr, DType::f32, 0};
}

/// The 16-bit values that follow `parameter`: its own, behind a master, or the copy kept for
/// autocast.
Tensor low_of(const Tensor& parameter, const Tensor& master) {
    if (master.defined()) return parameter;
    const auto& copy = parameter.impl()->low_copy;
    return copy ? copy->tensor : Tensor();
}

}  // namespace

kernels::UpdateTensor Optimizer::tensor_of(std::size_t i) const {
    const Tensor& weight = parameters_[i].tensor;
    const Tensor grad = weight.grad();
    if (!is_dense(grad) || layout_of(weight) != layout_of(grad)) {
        // A gradient may come in another layout than the weight's (a transposed product, the
        // broadcast one of a sum): bring it over once.
        weight.set_grad(in_layout(grad, layout_of(weight)));
    }
    const Slot& slot = slots_[i];
    return {stored(i).array(), weight.grad().array(), array_or_null(slot.state1),
            array_or_null(slot.state2), array_or_null(low_of(weight, slot.master))};
}

void Optimizer::written(std::size_t i) {
    const Tensor& weight = parameters_[i].tensor;
    const Slot& slot = slots_[i];
    weight.bump_version();
    if (slot.master.defined()) slot.master.bump_version();
    if (const auto& copy = weight.impl()->low_copy) {
        copy->tensor.bump_version();
        copy->version = weight.version();
    }
}

void Optimizer::step() {
    tensors_.clear();
    updated_.clear();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (!parameters_[i].tensor.grad().defined()) continue;
        if (!slots_[i].state1.defined()) make_state(i);
        tensors_.push_back(tensor_of(i));
        updated_.push_back(i);
    }
    const auto stream = current_stream();
    const float* flag = found_inf.defined() ? found_inf.data_as<float>() : nullptr;
    on(step_.device(), kernels::cpu::advance_step, kernels::cuda::advance_step)(
        step_.data_as<std::int64_t>(), flag, stream);
    const kernels::UpdateScalars scalars{
        lr_.data_as<float>(),
        grad_scale.defined() ? grad_scale.data_as<float>() : nullptr,
        clip.defined() ? clip.data_as<float>() : nullptr,
        flag,
        step_.data_as<std::int64_t>(),
        options_.write_grads};
    run(tensors_, scalars, counts_.data());
    for (const std::size_t i : updated_) written(i);
}

}  // namespace engine
