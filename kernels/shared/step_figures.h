#pragma once

#include "kernels/step_figures.h"

/// The one-thread parts of kernels/step_figures.h: shared by the twins.
namespace kernels {

/// The loss of a batch of `rows`.
HALFTONE_HOST_DEVICE inline void add_loss(BatchTally& tally, double loss, std::int64_t rows) {
    tally.samples += rows;
    tally.loss_sum += static_cast<double>(rows) * loss;
}

template <typename T>
HALFTONE_HOST_DEVICE void copy_if_given(T& field, const T* source) {
    if (source != nullptr) field = *source;
}

HALFTONE_HOST_DEVICE inline void gather_figures(StepFigures& figures, const StepSources& from) {
    copy_if_given(figures.tally, from.tally);
    copy_if_given(figures.judgement, from.judgement);
    copy_if_given(figures.counts, from.counts);
    copy_if_given(figures.updates, from.updates);
    copy_if_given(figures.loss_scale, from.loss_scale);
    copy_if_given(figures.next_loss_scale, from.next_loss_scale);
    copy_if_given(figures.lr, from.lr);
    copy_if_given(figures.scaled_f16_max, from.scaled_f16_max);
    copy_if_given(figures.growth_tracker, from.growth_tracker);
    if (from.refusal != nullptr) {
        figures.refusal = *from.refusal;
        *from.refusal = 0;
    }
}

HALFTONE_HOST_DEVICE inline void put_learning_rate(float* lr, const std::int64_t* updates,
                                                   const LearningRateSchedule& schedule) {
    *lr = static_cast<float>(learning_rate(schedule, *updates));
}

}  // namespace kernels
