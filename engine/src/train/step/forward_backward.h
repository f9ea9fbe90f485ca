#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "parallel/gradient_exchange.h"
#include "train/step/gradient_update.h"
#include "train/step/step_marks.h"
#include "train/step/step_observer.h"
#include "train/step/step_state.h"

namespace engine {

/// Where a step's batches come from: number i of it, and that it is no longer needed.
struct BatchSupply {
    std::function<DeviceBatch(std::size_t)> get;
    std::function<void(const DeviceBatch&)> used;
    /// Count of each batch in the step's mean, over all ranks: Task::loss_terms(). None: all the
    /// same.
    std::vector<std::int64_t> terms{};
};

/// The decisions of a step's micro-batches (TaskStep::decisions), on the host. A step that is
/// computed again with them makes the same choices in any precision. Any thread.
class StepDecisions {
public:
    /// Empty: none are known.
    TensorList at(std::size_t micro_batch) const;
    /// Copies them, unless some are known.
    void keep(std::size_t micro_batch, const TensorList& decisions);
    bool empty() const;
    /// These, but those of a micro-batch for some of its rows alone, in this order.
    std::shared_ptr<StepDecisions> with_rows(std::size_t micro_batch,
                                             const std::vector<std::int64_t>& rows) const;

private:
    mutable std::mutex mutex_;  // guards all below
    std::vector<TensorList> batches_;
};

/// The gradients of a step: for each phase of the task, and each micro-batch, the forward pass and
/// the backward pass of the scaled losses, and the sum over all ranks.
class ForwardBackward {
public:
    /// `ranks`: null: this process alone. What is referred to must outlive this object.
    ForwardBackward(const RunConfig& config, Task& task, Model& model, MixedPrecision& precision,
                    const GradientUpdate& update, StepState& state, StepObservers& observers,
                    Communicator* ranks);

    std::span<const Phase> phases() const { return phases_; }
    /// A step on so many batches begins; `terms` as in BatchSupply.
    void begin(kernels::StepBeginning& first, std::size_t batches,
               std::span<const std::int64_t> terms);
    /// Leaves the scaled gradients of the phase in its parameters. `marks` (may be null): one at
    /// the end of each forward and each backward pass.
    void run(std::size_t phase, const BatchSupply& supply, StepMarks* marks);
    /// Replaces the sums and counts of a step by those over all ranks. The gradients are already
    /// the same on all of them, so the gradient check has the same result: all ranks skip the step
    /// or none.
    void share_figures();
    /// Names the figures that the kernel at the end of the step gathers.
    void end(kernels::StepEnding& last);
    /// Drops the batches and the passed tensors of the step.
    void release();

    /// From the next step on: those that are known are taken, the others are kept there. Null: no
    /// step has any.
    void set_decisions(std::shared_ptr<StepDecisions> decisions) {
        decisions_ = std::move(decisions);
    }

    /// Sums of the step in progress, on the device.
    const DeviceRecord<MetricSums>& sums() const { return sums_; }
    /// Timer of the last step, over all phases; see ExchangeTimer.
    ExchangeTimer exchange_timer() const;

private:
    /// A micro-batch between the phases of a step.
    struct MicroBatch {
        DeviceBatch batch;
        TensorList passed;
        TensorList state;
        double weight = 1;  ///< in the step's mean
    };

    void run_micro_batch(std::size_t phase, std::size_t index, StepMarks* marks);
    void differentiate(std::size_t phase, std::size_t micro_batch, const TensorList& losses);
    void backward_of(const Phase& phase, const Tensor& loss, bool retain_graph);
    Tensor penalised(const Phase& phase, const Tensor& loss);
    double loss_weight(const MicroBatch& micro_batch) const;
    void share_figures_on_device();

    double gradient_penalty_;
    Task& task_;
    Model& model_;
    MixedPrecision& precision_;
    const GradientUpdate& update_;
    StepState& state_;
    StepObservers& observers_;
    Communicator* ranks_;
    Device device_;
    std::vector<Phase> phases_;
    std::vector<std::unique_ptr<GradientExchange>> exchanges_;  // by phase; none: one process
    StepRandom random_;
    DeviceRecord<MetricSums> sums_;
    DeviceRecord<MetricSums> unseen_sums_;  // of rows that a rank without rows computes
    Tensor f16_max_;                        // 0-d f32
    std::vector<MicroBatch> micro_batches_;
    std::shared_ptr<StepDecisions> decisions_;
};

}  // namespace engine
