#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attention/scaled_scores.h"
#include "engine/run_config.h"
#include "models/model.h"
#include "optim/adam.h"
#include "train/batch_supply.h"

namespace engine {

/// The fault of teach.plant at work in a training step: TrainStep calls each function at its place,
/// and they change something in the planted step alone (of adam-epsilon-zero also before it). One
/// thread at a time. Reads the device, so such a step cannot be captured.
class PlantedFault {
public:
    /// `schema`: of a training batch. Throws Error(settings) where the fault fits neither the model
    /// nor its data.
    PlantedFault(const PlantConfig& plant, const Schema& schema, Model& model);
    PlantedFault(const PlantedFault&) = delete;
    PlantedFault& operator=(const PlantedFault&) = delete;

    /// One step of this number, from 1.
    class Scope {
    public:
        Scope(PlantedFault& plant, std::int64_t step);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        PlantedFault& plant_;
    };

    /// The same batches, the first one with a broken sample. Throws Error(settings) for a sample
    /// that the batch does not have.
    BatchSupply supply(const BatchSupply& from);
    /// NaN in a weight, and in its master where the optimizer has one.
    void damage_weights(const Optimizer& optimizer);
    /// Throws Error(settings) if the model carries no state.
    void damage_state(const TensorList& state) const;
    /// Zero gradients of a parameter, and epsilon 0 in the planted step.
    void damage_update(Optimizer& optimizer);
    /// For TaskStep::Casts; lives as long as the object.
    const std::function<void(TensorList&)>* on_outputs() const { return &on_outputs_; }
    /// After the step: throws Error(settings) if the named module computed no attention.
    void check_met() const;

private:
    bool hits() const { return step_ == plant_.step; }
    bool is(PlantKind kind) const { return plant_.kind == kind; }
    void find_field(const Schema& schema);
    void find_parameter(const Schema& schema);
    [[noreturn]] void refuse(const Message& why) const;
    std::int64_t sample_in(const DeviceBatch& batch) const;
    DeviceBatch damaged(const DeviceBatch& batch);
    void damage(const Parameter& parameter, const Tensor& values) const;

    PlantConfig plant_;
    Model& model_;
    std::int64_t step_ = 0;  // in progress; 0: none
    std::size_t field_ = 0;  // of the batch, that is changed or read
    Parameter parameter_;
    std::optional<std::int64_t> row_;
    std::optional<ScaledScores> scores_;
    Adam* adam_ = nullptr;  // whose epsilon is 0 for the step
    double epsilon_ = 0;    // its own
    std::vector<DeviceBatch> given_;  // batches of the step as they came
    std::function<void(TensorList&)> on_outputs_;
};

}  // namespace engine
