#include "train/step/step_state.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "tensor/cast.h"

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
std::int32_t saved_counter(const SavedNumbers& saved, const char* name) {
    const std::int64_t count = saved_count(saved, name);
    if (count == static_cast<std::int32_t>(count)) return static_cast<std::int32_t>(count);
    throw Error(ErrorCode::data, msg("the saved state has an impossible {}: {}", name, count));
}

}  // namespace

StepState::StepState(const Task& task, Model& model, std::span<Optimizer* const> optimizers,
                     LossScaler& scaler, QuantizedLayers* quantized, const Device& device,
                     Communicator* ranks)
    : model_(model),
      optimizers_(optimizers),
      names_(task.optimizer_names()),
      scaler_(scaler),
      quantized_(quantized),
      carried_(model, device, ranks),
      number_(Tensor::zeros({}, DType::i64, device)) {}

/// The optimizer's name in front of its state's, where there are several.
std::string StepState::prefix_of(std::size_t part) const {
    return names_[part].empty() ? "" : names_[part] + "/";
}

TensorMap StepState::saved_quantization() const {
    return quantized_ != nullptr ? quantized_->saved_state() : TensorMap();
}

TrainingState StepState::saved_state() const {
    TrainingState out;
    out.weights = engine::saved_state(model_);
    for (std::size_t part = 0; part < optimizers_.size(); ++part) {
        for (auto& [name, value] : optimizers_[part]->saved_state())
            out.optimizer.emplace(prefix_of(part) + name, std::move(value));
    }
    out.carried = carried_.saved_state();
    out.quantization = saved_quantization();
    out.scaler = scaler_.saved_state();
    return out;
}

std::size_t StepState::optimizer_states() const {
    std::size_t count = 0;
    for (const Optimizer* const each : optimizers_) count += each->states();
    return count;
}

StatePlaces StepState::places() const {
    StatePlaces out;
    out.weights = engine::state_places(model_);
    for (std::size_t part = 0; part < optimizers_.size(); ++part) {
        for (Place& place : optimizers_[part]->places()) {
            place.name.insert(0, prefix_of(part));
            out.optimizer.push_back(std::move(place));
        }
    }
    for (const Tensor& buffer : carried_.buffers())
        out.carried.push_back({std::to_string(out.carried.size()), buffer});
    out.states = optimizer_states();
    return out;
}

bool StepState::is_laid_out(const StatePlaces& other) const {
    const TensorList& buffers = carried_.buffers();
    const auto same = [](const Place& place, const Tensor& buffer) {
        return place.tensor.impl()->storage == buffer.impl()->storage;
    };
    return other.states == optimizer_states() && std::ranges::equal(other.carried, buffers, same);
}

/// The state of one optimizer as this run's settings need it: masters where it has some, its own
/// decay, and nothing but the count of updates of an optimizer of another kind.
TensorMap StepState::optimizer_state(std::size_t part, const TrainingState& saved,
                                     const StateChange& change) const {
    const Optimizer& optimizer = *optimizers_[part];
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

void StepState::load_scaler(const SavedNumbers& saved) {
    if (!scaler_.is_dynamic() || saved.empty()) return;
    const std::int32_t left = saved.contains("hysteresis_tracker")
                                  ? saved_counter(saved, "hysteresis_tracker")
                                  : scaler_.rule().hysteresis;  // a new count
    scaler_.load_state({static_cast<float>(saved_number(saved, "scale")),
                        saved_counter(saved, "growth_tracker"), left});
}

void StepState::load_state(const TrainingState& saved, const StateChange& change) {
    engine::load_state(model_, change.same_precision ? saved.weights : best_weights(saved));
    for (std::size_t part = 0; part < optimizers_.size(); ++part) {
        optimizers_[part]->load_state(
            optimizer_state(part, saved, change),
            change.same_precision ? StateTypes::exact : StateTypes::converted);
    }
    carried_.load_state(saved.carried);
    load_scaler(saved.scaler);
    const auto steps = static_cast<double>(saved_count(saved.counts, "steps"));
    if (quantized_ != nullptr)
        quantized_->load_state(saved.quantization, saved_count(saved.counts, "steps"));
    fill({{"steps", number_}}, {{"steps", Tensor::full({}, steps, DType::i64, Device{})}});
}

}  // namespace engine
