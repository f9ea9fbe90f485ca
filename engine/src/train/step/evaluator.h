#pragma once

#include <utility>

#include "parallel/communicator.h"
#include "tasks/task.h"
#include "tensor/deferred_errors.h"
#include "train/step/batch_feed.h"
#include "train/step/hidden_state.h"
#include "train/step/mixed_precision.h"

namespace engine {

/// The task's sums over the batches of an evaluation, in evaluation mode, on the device. One thread
/// at a time.
class Evaluator {
public:
    Evaluator(Task& task, Model& model, const MixedPrecision& precision, const Device& device);

    /// A pass over a part begins: its carried state is zeroed.
    void begin();
    /// Returns what the task predicted (TaskStep::predicted), on the device. Throws Error.
    Tensor add(const Batch& batch, BatchFeed& feed);
    /// The part of add() that computes: asks nothing of the host, so that it can be captured.
    Tensor compute(const DeviceBatch& batch);
    /// The part of add() after it: keeps the pictures of the pass's first batch.
    void note(const DeviceBatch& batch, const Tensor& predicted);
    /// The memory of the state that is carried from batch to batch of so many rows.
    const TensorList& state(std::int64_t rows) { return state_.in(rows); }
    /// The sums since the last call; waits for them. Throws Error(value) for a deferred device
    /// error. Null `ranks`: this process alone. Otherwise the sums are over all ranks, which all
    /// call it.
    MetricSums take(Communicator* ranks = nullptr);
    /// The task's pictures of the pass's first batch, on the host, at most `max_pictures` a band.
    PictureBands take_pictures() { return std::exchange(pictures_, {}); }
    static constexpr std::int64_t max_pictures = 64;

private:
    void clear_sums();

    struct Sums {
        MetricSums sums;
        kernels::DeferredError deferred_error;
    };

    TaskStep step_on(const DeviceBatch& batch);

    Task& task_;
    Model& model_;
    const MixedPrecision& precision_;
    Device device_;
    HiddenState state_;
    DeviceRecord<Sums> sums_;
    PictureBands pictures_;
    bool first_ = true;
    Tensor pass_counts_;  // undefined: the task counts nothing over a pass
};

}  // namespace engine
