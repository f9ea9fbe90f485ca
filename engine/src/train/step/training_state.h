#pragma once

#include <vector>

#include "tensor/restore.h"
#include "tensor/tensor.h"
#include "train/step/saved_numbers.h"

namespace engine {

/// Everything that later steps depend on, except settings and data, on the host. Weights are f32
/// under PyTorch's names, in every precision.
struct TrainingState {
    TensorMap weights;  ///< parameters and buffers
    /// State of the optimizers, as Optimizer::saved_state() names it; after "NAME/" where a task
    /// has several of them.
    TensorMap optimizer;
    TensorMap carried;    ///< of a recurrent model, by number; empty: it carries nothing
    TensorMap quantization;  ///< QuantizedLayers::saved_state(); empty: scales without a history
    SavedNumbers scaler;  ///< LossScaler::saved_state(); empty: there is no dynamic scaler
    /// steps, updates, samples, and updates_apart: those that the run counts beyond its optimizer.
    SavedNumbers counts;
};

/// The tensors of a TrainingState where they lie, weights in the precision of the model.
struct StatePlaces {
    std::vector<Place> weights, optimizer, carried;
    std::size_t states = 0;  ///< parameters that have optimizer state
};

/// How a state is put into a trainer whose settings may differ from those that it was saved with.
struct StateChange {
    bool same_precision = true;  ///< else state in another type is rounded once
    bool same_optimizer = true;  ///< else its state begins anew; the count of updates goes on
    bool own_updates = false;    ///< the trainer's count of updates stays what it was
};

}  // namespace engine
