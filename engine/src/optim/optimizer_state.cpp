#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "ops/shape/view.h"
#include "optim/optimizer.h"
#include "tensor/layout.h"
#include "tensor/restore.h"

namespace engine {
namespace {

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

void Optimizer::load_masters(const TensorMap& weights) {
    std::vector<Place> to;
    TensorMap values;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        const auto found = weights.find(parameters_[i].name);
        if (!slots_[i].master.defined() || found == weights.end()) continue;
        to.push_back({found->first, slots_[i].master});
        values.insert(*found);
    }
    const std::string wrong = misfits(to, values);
    if (!wrong.empty())
        throw Error(ErrorCode::value, "optimizer: the masters do not fit: " + wrong);
    fill(to, values);
}

}  // namespace engine
