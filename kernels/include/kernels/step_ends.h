#pragma once

#include "kernels/scaler.h"
#include "kernels/step_figures.h"

namespace kernels {

/// Work on single values before the forward pass of a training step, by one kernel: each would take
/// a launch of its own.
struct StepBeginning {
    static constexpr int max_zeros = 4;
    struct Zeros {
        void* at;            ///< aligned for u32
        std::int64_t words;  ///< of 4 bytes
    };
    Zeros zeros[max_zeros] = {};  ///< memory to be set to 0; null ones are left out
    /// The learning rates of the optimizers, as SetLearningRate; null ones are left out.
    float* lr[max_optimizers] = {};
    const std::int64_t* updates[max_optimizers] = {};
    const double* multiplier = nullptr;
    LearningRateSchedule schedule = {};
};
using BeginStep = void(const StepBeginning& beginning, Stream stream);
HALFTONE_KERNEL(BeginStep, begin_step);

/// Where the figures of steps go that the host has not read yet. Host memory, which must be pinned
/// for a GPU; null: the figures stay where they were gathered.
struct FigureSlots {
    static constexpr int count = 2;
    /// Taken in turn: the figures of the step with `ended` = 1 go to the first slot. A captured step
    /// has the same slots in each replay.
    StepFigures* at[count] = {};
};

/// And behind the update: the figures are gathered and the scale moves.
struct StepEnding {
    StepSources before = {};  ///< gathered before the scale moves
    /// As UpdateScale; null: there is none.
    float* scale = nullptr;
    std::int32_t* growth_tracker = nullptr;
    std::int32_t* hysteresis_left = nullptr;
    const float* found_inf = nullptr;
    ScaleUpdate rule = {};
    std::int64_t* number = nullptr;  ///< of the step, to which 1 is added; or null
    StepSources after = {};          ///< gathered last
    FigureSlots slots = {};          ///< get a copy of all figures, last of all
};
using EndStep = void(StepFigures* figures, const StepEnding& ending, Stream stream);
HALFTONE_KERNEL(EndStep, end_step);

}  // namespace kernels
