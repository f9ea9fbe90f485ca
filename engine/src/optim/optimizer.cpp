#include "optim/optimizer.h"

#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "kernels/scaler.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {

namespace {

void check_group(double lr, double weight_decay) {
    if (!(lr >= 0))
        throw Error(ErrorCode::value,
                    "optimizer: the learning rate must not be negative, got " + std::to_string(lr));
    if (!(weight_decay >= 0))
        throw Error(ErrorCode::value, "optimizer: the weight decay must not be negative, got " +
                                          std::to_string(weight_decay));
}

/// `count` more values after those of x.
Tensor extended(const Tensor& x, std::size_t count, double value) {
    auto values = x.values();
    values.resize(values.size() + count, value);
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, x.dtype(), x.device());
}

/// The place of one group's value.
kernels::Array of_group(const Tensor& by_group, int group) {
    return {static_cast<std::byte*>(by_group.data()) +
                static_cast<std::size_t>(group) * size_of(by_group.dtype()),
            by_group.dtype(), 1};
}

}  // namespace

Optimizer::Optimizer(std::vector<Parameter> parameters, const OptimizerOptions& options, double lr,
                     double weight_decay)
    : options_(options), first_lr_(lr), first_decay_(weight_decay), decays_{weight_decay} {
    check_group(lr, weight_decay);
    if (options.larc.on && (!(options.larc.trust > 0) || !(options.larc.eps >= 0)))
        throw Error(ErrorCode::value, "larc: trust must be above 0 and eps not negative");
    const Device device = parameters.empty() ? Device{} : parameters.front().tensor.device();
    lr_ = Tensor::full({1}, lr, DType::f32, device);
    step_ = Tensor::zeros({1}, DType::i64, device);
    decay_ = Tensor::full({1}, weight_decay, DType::f64, device);
    own_step_ = Tensor::zeros({0}, DType::i64, device);
    counts_ = DeviceRecord<kernels::UpdateCounts>(device);
    counts_.clear();
    add_parameters(std::move(parameters), 0);
}

Optimizer::~Optimizer() = default;

void Optimizer::add_parameters(std::vector<Parameter> parameters, int group) {
    for (const Parameter& parameter : parameters) {
        if (!(parameter.tensor.device() == device())) {
            throw Error(ErrorCode::value, msg("optimizer: parameter {} is on another device; give "
                                              "each device its own optimizer",
                                              parameter.name));
        }
        if (!is_dense(parameter.tensor)) {
            throw Error(ErrorCode::value,
                        msg("optimizer: parameter {} is not dense in memory", parameter.name));
        }
    }
    own_step_ = extended(own_step_, parameters.size(), 0);
    for (Parameter& parameter : parameters) {
        parameters_.push_back(std::move(parameter));
        slots_.emplace_back().group = group;
        make_master(slots_.size() - 1);
    }
}

int Optimizer::add_group(std::vector<Parameter> parameters, const GroupOptions& group) {
    const double lr = group.lr.value_or(first_lr_);
    const double decay = group.weight_decay.value_or(first_decay_);
    check_group(lr, decay);
    const auto number = static_cast<int>(lr_.numel());
    add_parameters(std::move(parameters), number);
    lr_ = extended(lr_, 1, lr);
    step_ = extended(step_, 1, 0);
    decay_ = extended(decay_, 1, decay);
    decays_.push_back(decay);
    return number;
}

double Optimizer::lr(int group) const { return lr_.values()[static_cast<std::size_t>(group)]; }

void Optimizer::set_lr(double lr, int group) {
    on(lr_.device(), kernels::cpu::fill, kernels::cuda::fill)(of_group(lr_, group), lr,
                                                              current_stream());
}

void Optimizer::set_lr(const kernels::LearningRateSchedule& schedule, const double* multiplier,
                       int group) {
    on(lr_.device(), kernels::cpu::set_learning_rate, kernels::cuda::set_learning_rate)(
        lr_.data_as<float>() + group, step_.data_as<std::int64_t>() + group, multiplier, schedule,
        current_stream());
}

std::int64_t Optimizer::steps(int group) const {
    return static_cast<std::int64_t>(step_.values()[static_cast<std::size_t>(group)]);
}

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

Tensor Optimizer::low_values(std::size_t i) const {
    if (slots_[i].master.defined()) return parameters_[i].tensor;
    const auto& copy = parameters_[i].tensor.impl()->low_copy;
    return copy ? copy->tensor : Tensor();
}

kernels::UpdateTensor Optimizer::whole(std::size_t i, const Tensor& grad) const {
    const Slot& slot = slots_[i];
    return {stored(i).array(),
            grad.array(),
            array_or_null(slot.state1, DType::f32),
            array_or_null(slot.state2, DType::f32),
            array_or_null(low_values(i), DType::f32),
            array_or_null(slot.state3, DType::f32),
            slot.group,
            static_cast<int>(i),
            slot.master.defined()};
}

void Optimizer::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    const Tensor& weight = parameters_[i].tensor;
    const Tensor grad = weight.grad();
    if (grad.is_sparse()) {
        throw Error(ErrorCode::value,
                    "optimizer: the gradient of " + parameters_[i].name + " is sparse",
                    "Use SGD, Adagrad or SparseAdam for it, or a dense gradient.");
    }
    if (!is_dense(grad) || layout_of(weight) != layout_of(grad)) {
        // A gradient may come in another layout than the weight's (a transposed product, the
        // broadcast one of a sum): bring it over once.
        weight.set_grad(in_layout(grad, layout_of(weight)));
    }
    tensors.push_back(whole(i, weight.grad()));
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

void Optimizer::advance(const float* skip) {
    advanced_.clear();
    for (std::int64_t group = 0; group < step_.numel(); ++group)
        advanced_.push_back(step_.data_as<std::int64_t>() + group);
    for (const std::size_t i : updated_) {
        if (has_state(i)) advanced_.push_back(own_step_.data_as<std::int64_t>() + i);
    }
    on(step_.device(), kernels::cpu::advance_step, kernels::cuda::advance_step)(advanced_, skip,
                                                                                current_stream());
}

void Optimizer::step() {
    tensors_.clear();
    updated_.clear();
    rows_.clear();
    moved_.clear();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (!parameters_[i].tensor.grad().defined()) continue;
        if (!has_state(i)) make_state(i);
        collect(i, tensors_);
        updated_.push_back(i);
    }
    const float* flag = found_inf.defined() ? found_inf.data_as<float>() : nullptr;
    advance(flag);
    const kernels::UpdateScalars scalars{
        lr_.data_as<float>(),
        grad_scale.defined() ? grad_scale.data_as<float>() : nullptr,
        clip.defined() ? clip.data_as<float>() : nullptr,
        flag,
        step_.data_as<std::int64_t>(),
        own_step_.data_as<std::int64_t>(),
        options_.write_grads,
        decay_.data_as<double>(),
        options_.larc};
    fetch_rows();
    run(tensors_, scalars, counts_.data());
    put_rows_back();
    for (const std::size_t i : updated_) written(i);
}

}  // namespace engine
