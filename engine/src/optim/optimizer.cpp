#include "optim/optimizer.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "kernels/scaler.h"
#include "ops/index/sparse.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/restore.h"
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

constexpr char lr_name[] = "groups.lr";
constexpr char decay_name[] = "groups.weight_decay";
constexpr char steps_name[] = "groups.steps";
constexpr char sizes_name[] = "groups.parameters";
constexpr char step_name[] = "step";

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorCode::value, "optimizer: the saved state does not fit: " + why,
                "Load the state of an optimizer of the same kind over the same parameters.");
}

void check_group_count(const TensorMap& saved, std::int64_t groups) {
    const auto lr = saved.find(lr_name);
    if (lr != saved.end() && lr->second.numel() != groups)
        refuse("its groups are " + std::to_string(lr->second.numel()) +
               " in number, those of this optimizer " + std::to_string(groups));
}

std::string whole(double value) { return std::to_string(static_cast<std::int64_t>(value)); }

void check_not_negative(const TensorMap& saved, const std::string& name) {
    for (const double value : saved.at(name).values()) {
        if (!(value >= 0))
            refuse(name + " holds " + std::to_string(value) + ", which is below 0 or no number");
    }
}

/// For entries that were checked to exist, with the right type.
void check_groups(const TensorMap& saved, const std::vector<double>& sizes) {
    const auto saved_sizes = saved.at(sizes_name).values();
    for (std::size_t group = 0; group < sizes.size(); ++group) {
        if (saved_sizes[group] != sizes[group])
            refuse("its group " + std::to_string(group) + " has " + whole(saved_sizes[group]) +
                   " as its number of parameters, that of this optimizer " + whole(sizes[group]));
    }
    for (const char* name : {lr_name, decay_name, steps_name}) check_not_negative(saved, name);
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

void Optimizer::make_state(std::size_t i) {
    Slot& slot = slots_[i];
    Tensor* const states[] = {&slot.state1, &slot.state2, &slot.state3};
    for (std::size_t k = 0; k < state_names().size(); ++k)
        *states[k] = new_state(i, /*may_be_low=*/false);
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

void Optimizer::collect_rows_or_all(const char* optimizer, std::size_t i, bool rows_alone,
                                    std::vector<kernels::UpdateTensor>& tensors) {
    const Tensor& weight = parameters_[i].tensor;
    if (!weight.grad().is_sparse()) return Optimizer::collect(i, tensors);
    if (weight_decay(slots_[i].group) != 0) {
        throw Error(ErrorCode::value,
                    std::string(optimizer) + ": the gradient of " + parameters_[i].name +
                        " is sparse, and weight decay changes every weight",
                    "Put the parameter in a group without weight decay, or use a dense gradient.");
    }
    if (rows_alone && !options_.larc.on && weight.is_contiguous()) return collect_rows(i, tensors);
    weight.set_grad(to_dense(weight.grad()));
    Optimizer::collect(i, tensors);
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

void Optimizer::collect_rows(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    const Slot& slot = slots_[i];
    kernels::UpdateTensor part =
        rows_.add(static_cast<int>(i), parameters_[i],
                  {stored(i), slot.state1, slot.state2, slot.state3, low_values(i)});
    if (part.grad.size == 0) return;
    part.group = slot.group;
    part.behind_low = slot.master.defined();
    tensors.push_back(part);
}

void Optimizer::step() {
    tensors_.clear();
    updated_.clear();
    rows_.clear();
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
    rows_.fetch(device());
    run(tensors_, scalars, counts_.data());
    rows_.put_back(device());
    for (const std::size_t i : updated_) written(i);
}

// Saved state.

std::vector<std::pair<std::string, Tensor>> Optimizer::state(std::size_t i) const {
    const Slot& slot = slots_[i];
    if (!has_state(i)) return {};
    const Tensor values[] = {slot.state1, slot.state2, slot.state3};
    std::vector<std::pair<std::string, Tensor>> out;
    for (const std::string& name : state_names()) out.emplace_back(name, values[out.size()]);
    return out;
}

std::string Optimizer::entry(std::size_t i, const std::string& state) const {
    return parameters_[i].name + "." + state;
}

Tensor Optimizer::own_step(std::size_t i) const {
    return reshape(narrow(own_step_, 0, static_cast<std::int64_t>(i), 1), {});
}

std::vector<double> Optimizer::group_sizes() const {
    std::vector<double> sizes(static_cast<std::size_t>(lr_.numel()), 0.0);
    for (const Slot& slot : slots_) ++sizes[static_cast<std::size_t>(slot.group)];
    return sizes;
}

std::vector<Place> Optimizer::places(StateTypes types) const {
    const bool exact = types == StateTypes::exact;
    const Tensor sizes = Tensor::of(group_sizes(), lr_.shape(), DType::i64, Device{});
    std::vector<Place> out = {{lr_name, lr_, /*exact=*/true},
                              {decay_name, decay_, true},
                              {steps_name, step_, true},
                              {sizes_name, sizes, true}};
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].master.defined()) out.push_back({entry(i, "master"), slots_[i].master, true});
        for (const auto& [name, value] : state(i)) out.push_back({entry(i, name), value, exact});
        if (has_state(i)) out.push_back({entry(i, step_name), own_step(i), true});
    }
    std::set<std::string> names;
    for (const Place& place : out) {
        if (!names.insert(place.name).second)
            throw Error(ErrorCode::value,
                        "optimizer: " + place.name + " names the state of two parameters",
                        "Give each parameter a name of its own.");
    }
    return out;
}

TensorMap Optimizer::saved_state() const {
    TensorMap out;
    for (const Place& place : places()) out[place.name] = snapshot(place.tensor);
    return out;
}

std::size_t Optimizer::states() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(slots_, [](const Slot& slot) { return slot.state1.defined(); }));
}

bool Optimizer::has_saved_state(std::size_t i, const TensorMap& saved) const {
    if (saved.contains(entry(i, step_name))) return true;
    for (const std::string& name : state_names()) {
        if (saved.contains(entry(i, name))) return true;
    }
    return false;
}

void Optimizer::reset_state(std::size_t i) {
    const auto kept = state(i);
    const Slot slot = slots_[i];
    make_state(i);
    const auto initial = state(i);
    slots_[i] = slot;
    for (std::size_t k = 0; k < kept.size(); ++k) copy_into(kept[k].second, initial[k].second);
    copy_into(own_step(i), Tensor::zeros({}, DType::i64, device()));
}

void Optimizer::load_state(const TensorMap& saved, StateTypes types) {
    const DeviceScope scope(device());
    check_group_count(saved, lr_.numel());
    // Parameters without saved state take it as their first update would: it may be there already.
    std::set<std::string> unsaved;
    std::vector<std::size_t> reset;
    const std::vector<Slot> before = slots_;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (has_saved_state(i, saved)) {
            if (!has_state(i)) make_state(i);
        } else if (has_state(i)) {
            reset.push_back(i);
            unsaved.insert(entry(i, step_name));
            for (const std::string& name : state_names()) unsaved.insert(entry(i, name));
        }
    }
    try {
        std::vector<Place> to = places(types);
        for (Place& place : to) place.may_be_missing = unsaved.contains(place.name);
        const std::string wrong = misfits(to, saved);
        if (!wrong.empty()) refuse(wrong);
        check_groups(saved, group_sizes());
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const std::string step = entry(i, step_name);
            if (saved.contains(step)) check_not_negative(saved, step);
        }
        fill(to, saved);
    } catch (...) {
        slots_ = before;
        throw;
    }
    decays_ = decay_.values();
    for (const std::size_t i : reset) reset_state(i);
}

}  // namespace engine
