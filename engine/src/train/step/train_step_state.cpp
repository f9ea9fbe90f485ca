// TrainStep's state, to a checkpoint and back.
#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "tensor/cast.h"
#include "tensor/restore.h"
#include "train/step/train_step.h"

namespace engine {
namespace {

constexpr char master_ending[] = ".master";

bool is_master(const std::string& name) { return name.ends_with(master_ending); }

std::string without_ending(const std::string& name) {
    return name.substr(0, name.size() - std::string_view(master_ending).size());
}

bool is_of_groups(const std::string& name) { return name.starts_with("groups."); }

/// Masters hold what 16-bit weights hold rounded.
TensorMap best_weights(const TrainingState& saved) {
    TensorMap weights = saved.weights;
    for (const auto& [name, value] : saved.optimizer) {
        if (!is_master(name)) continue;
        const auto start = name.find('/') + 1;  // after the optimizer's name, if it has one
        const auto weight = weights.find(without_ending(name.substr(start)));
        if (weight != weights.end()) weight->second = value;
    }
    return weights;
}

/// Counters of the scaler are 32-bit on the device.
void check_counter(const SavedNumbers& saved, const char* name) {
    const std::int64_t count = saved_count(saved, name);
    if (count == static_cast<std::int32_t>(count)) return;
    throw Error(ErrorCode::data, msg("the saved state has an impossible {}: {}", name, count));
}

}  // namespace

/// The optimizer's name in front of its state's, where there are several.
std::string TrainStep::prefix_of(std::size_t part) const {
    const std::string name = task_.optimizer_names()[part];
    return name.empty() ? name : name + "/";
}

TrainingState TrainStep::saved_state() const {
    TrainingState out;
    out.weights = engine::saved_state(model_);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        for (auto& [name, value] : parts_[part].optimizer->saved_state())
            out.optimizer.emplace(prefix_of(part) + name, std::move(value));
    }
    out.carried = state_.saved_state();
    out.scaler = precision_.scaler().saved_state();
    return out;
}

std::size_t TrainStep::optimizer_states() const {
    std::size_t count = 0;
    for (const Part& part : parts_) count += part.optimizer->states();
    return count;
}

StatePlaces TrainStep::state_places() const {
    StatePlaces out;
    out.weights = engine::state_places(model_);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        for (Place& place : parts_[part].optimizer->places()) {
            place.name.insert(0, prefix_of(part));
            out.optimizer.push_back(std::move(place));
        }
    }
    for (const Tensor& buffer : state_.buffers())
        out.carried.push_back({std::to_string(out.carried.size()), buffer});
    out.states = optimizer_states();
    return out;
}

bool TrainStep::is_laid_out(const StatePlaces& places) const {
    const TensorList& buffers = state_.buffers();
    const auto same = [](const Place& place, const Tensor& buffer) {
        return place.tensor.impl()->storage == buffer.impl()->storage;
    };
    return places.states == optimizer_states() && std::ranges::equal(places.carried, buffers, same);
}

/// The state of one optimizer as this run's settings need it: masters where it has some, its own
/// decay, and nothing but the count of updates of an optimizer of another kind.
TensorMap TrainStep::optimizer_state(std::size_t part, const TrainingState& saved,
                                     const StateChange& change) const {
    const Optimizer& optimizer = *parts_[part].optimizer;
    const std::string prefix = prefix_of(part);
    TensorMap out;
    for (const auto& [name, value] : saved.optimizer) {
        if (!name.starts_with(prefix)) continue;
        const std::string own = name.substr(prefix.size());
        if (!is_master(own) && (change.same_optimizer || is_of_groups(own))) out[own] = value;
    }
    const TensorMap weights = best_weights(saved);
    for (std::size_t i = 0; i < optimizer.parameters().size(); ++i) {
        const std::string& name = optimizer.parameters()[i].name;
        if (const auto found = weights.find(name);
            optimizer.master(i).defined() && found != weights.end())
            out[name + master_ending] = to(found->second, DType::f32);
    }
    const TensorMap own = optimizer.saved_state();
    out["groups.weight_decay"] = own.at("groups.weight_decay");
    // Each update computes its rate first. A run that has none left keeps the rate of its last one.
    out.try_emplace("groups.lr", own.at("groups.lr"));
    return out;
}

void TrainStep::load_scaler(const SavedNumbers& saved) {
    GradScaler& scaler = precision_.scaler();
    if (!scaler.is_enabled() || saved.empty() || config_.teach.resume_without_scaler) return;
    for (const char* count : {"growth_tracker", "hysteresis_tracker"})
        if (saved.contains(count)) check_counter(saved, count);
    GradScaler::State state = saved;  // the scale and its counts go on; the policy is the settings'
    state["growth_factor"] = scaler.growth_factor();
    state["backoff_factor"] = scaler.backoff_factor();
    state["growth_interval"] = static_cast<double>(scaler.growth_interval());
    scaler.load_state(state);
}

void TrainStep::load_state(const TrainingState& saved, const StateChange& change) {
    engine::load_state(model_, change.same_precision ? saved.weights : best_weights(saved));
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        parts_[part].optimizer->load_state(
            optimizer_state(part, saved, change),
            change.same_precision ? StateTypes::exact : StateTypes::converted);
    }
    state_.load_state(saved.carried);
    load_scaler(saved.scaler);
    const auto steps = static_cast<double>(saved_count(saved.counts, "steps"));
    fill({{"steps", number_}}, {{"steps", Tensor::full({}, steps, DType::i64, Device{})}});
}

}  // namespace engine
