#pragma once

#include "train/step/forward_backward.h"

namespace engine {

/// One optimizer step on the device, from the batches to the figures: for each phase of the task
/// its gradients (ForwardBackward), then their check and the update (GradientUpdate); then move the
/// loss scale and the carried state (StepState). Asks nothing of the host but the marks, so that it
/// can be captured. Knows no files, events or clocks. One thread at a time.
class TrainStep {
public:
    /// `planned`: number of updates over which the schedule extends. `ranks` connects the ranks
    /// that compute the step together, each on its part of the batches; all construct it together.
    /// Null: one process. `scaler`: in place of the settings' one. Throws Error.
    TrainStep(const RunConfig& config, Task& task, Model& model, const Device& device,
              const PlannedSteps& planned, Communicator* ranks = nullptr,
              std::unique_ptr<LossScaler> scaler = nullptr);

    /// `marks` (may be null): one at the end of each forward and each backward pass.
    void compute(std::size_t batches, const BatchSupply& supply, StepMarks* marks);
    /// Drops the results of a failed capture, which were never computed.
    void forget_captured();
    /// The end of each step puts its figures there, too: before the first step.
    void deliver_figures(const kernels::FigureSlots& slots) { slots_ = slots; }

    /// Figures of the last step, on the device.
    const DeviceRecord<kernels::StepFigures>& figures() const { return figures_; }
    const MixedPrecision& precision() const { return precision_; }
    StepObservers& observers() { return observers_; }
    GradientUpdate& update() { return update_; }
    StepState& state() { return state_; }
    const ForwardBackward& forward_backward() const { return forward_backward_; }
    void set_decisions(std::shared_ptr<StepDecisions> decisions) {
        forward_backward_.set_decisions(std::move(decisions));
    }

private:
    bool keeps_low_gradients(const RunConfig& config) const;
    void begin_recipes(const RunConfig& config, const PlannedSteps& planned, Communicator* ranks);
    void begin(std::size_t batches, std::span<const std::int64_t> terms);
    void end();

    Device device_;
    bool shared_;  // by ranks
    MixedPrecision precision_;
    GradientUpdate update_;
    StepState state_;
    StepObservers observers_;
    ForwardBackward forward_backward_;
    bool low_gradients_;
    DeviceRecord<kernels::StepFigures> figures_;
    kernels::FigureSlots slots_;
};

}  // namespace engine
