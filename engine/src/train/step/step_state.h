#pragma once

#include <span>
#include <string>
#include <vector>

#include "amp/recipe.h"
#include "optim/loss_scaler.h"
#include "tasks/task.h"
#include "train/step/hidden_state.h"
#include "train/step/training_state.h"

namespace engine {

/// Everything of a step that later steps depend on, to a checkpoint and back. Owns the state that a
/// recurrent model carries, and the step's number; refers to model, optimizers and scaler.
class StepState {
public:
    /// `quantized`: null: no recipe. `ranks`: see HiddenState. What is referred to must outlive this object.
    StepState(const Task& task, Model& model, std::span<Optimizer* const> optimizers,
              LossScaler& scaler, QuantizedLayers* quantized, const Device& device,
              Communicator* ranks);

    HiddenState& carried() { return carried_; }
    /// 0-d i64 on the device: steps computed, from which dropout is drawn.
    const Tensor& number() const { return number_; }
    const Device& device() const { return number_.device(); }
    const LossScaler& scaler() const { return scaler_; }

    /// State of the scales of a recipe; empty without one that keeps any.
    TensorMap saved_quantization() const;
    /// A copy of all state on the host; of the counts, those of the device. Waits for the device.
    TrainingState saved_state() const;
    /// The memory that saved_state() copies, without the scaler's: valid while is_laid_out().
    StatePlaces places() const;
    /// Whether state that appears with the first updates or a new number of streams has not
    /// changed the places.
    bool is_laid_out(const StatePlaces& places) const;
    /// Parameters of the model, trained or frozen: the first of places().
    std::size_t parameter_count() const { return model_.parameters().size(); }
    /// Goes on from a saved state: before the first step. Weights, optimizer and scaler of another
    /// precision are converted. Throws Error if it does not fit.
    void load_state(const TrainingState& saved, const StateChange& change);

private:
    std::string prefix_of(std::size_t part) const;
    std::size_t optimizer_states() const;
    TensorMap optimizer_state(std::size_t part, const TrainingState& saved,
                              const StateChange& change) const;
    void load_scaler(const SavedNumbers& saved);

    Model& model_;
    std::span<Optimizer* const> optimizers_;
    std::vector<std::string> names_;  // of the optimizers
    LossScaler& scaler_;
    QuantizedLayers* quantized_;
    HiddenState carried_;
    Tensor number_;
};

}  // namespace engine
