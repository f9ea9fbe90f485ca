#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/step_ends.h"
#include "optim/optimizer.h"
#include "tasks/task.h"
#include "tensor/device_record.h"
#include "train/step/mixed_precision.h"

namespace engine {

/// The optimizers of a task, and what a step does with their gradients: check, clip, step. The only
/// place that checks the gradients of a step. Waits for nothing.
class GradientUpdate {
public:
    /// Brings the weights into the order that the device computes with, and gives them their 16-bit
    /// copies. `planned`: number of updates over which the schedule extends.
    GradientUpdate(const RunConfig& config, Task& task, Model& model, MixedPrecision& precision,
                   const Device& device, const PlannedSteps& planned);

    /// By their number in Task::optimized(). A parameter that required no gradient is left out.
    std::span<Optimizer* const> optimizers() const { return optimizers_; }
    /// Parameters of the optimizers that the phase steps.
    TensorList parameters(const Phase& phase) const;

    /// Gives the kernel that begins a step the places of the learning rates that it sets.
    void begin(kernels::StepBeginning& first) const;
    void zero_grad(const Phase& phase) const;
    /// The backward passes of the phase are done: adds up the entries of each place of its sparse
    /// gradients, since norms and bounds are defined for dense ones, and accounts the memory of
    /// all.
    void complete(const Phase& phase) const;
    /// Reads the gradients of the phase once. Returns the found_inf flags of its optimizers.
    TensorList check(const Phase& phase) const;
    /// Clips and steps the optimizers of the phase, whose gradients were checked.
    void step(const Phase& phase) const;
    /// Gives the kernel that ends a step what it gathers and moves. The result must live until the
    /// launch.
    Tensor end(kernels::StepEnding& last) const;

    /// Drops the gradients.
    void zero_grad() const;
    /// The device has computed the step once more, as part of a graph.
    void note_replay() const;
    /// Drops the results of a failed capture, which were never computed.
    void forget_captured() const;
    /// Takes the schedule's place; before the first step.
    void set_schedule(const kernels::LearningRateSchedule& schedule) { schedule_ = schedule; }
    /// Sets the multiplier of the schedule's rate from the next step on, captured or not.
    void set_rate_multiplier(double multiplier) const;

private:
    /// An optimizer and its parameters.
    struct Part {
        TensorList tensors;
        std::unique_ptr<Optimizer> optimizer;
        DeviceRecord<kernels::GradientStatistics> checked;
    };

    void clip(const Part& part) const;
    void clip_by_value(const Part& part) const;

    ClipConfig clip_;
    Device device_;
    LossScaler& scaler_;
    kernels::LearningRateSchedule schedule_;
    Tensor rate_multiplier_;  // 0-d f64
    std::vector<Part> parts_;
    std::vector<Optimizer*> optimizers_;                // of the parts
    DeviceRecord<kernels::GradientStatistics> merged_;  // of several optimizers
};

}  // namespace engine
