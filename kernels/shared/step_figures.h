#pragma once

#include "kernels/step_figures.h"

/// The one-thread parts of kernels/step_figures.h: shared by the twins.
namespace kernels {

HALFTONE_HOST_DEVICE inline void add_mean_loss(MetricSums& sums, double loss, double weight) {
    sums.weight += weight;
    sums.loss += weight * loss;
}

/// NaN if either is.
HALFTONE_HOST_DEVICE inline float larger_magnitude(float a, float b) {
    return a != a || a > b ? a : b;
}

HALFTONE_HOST_DEVICE inline void add_gradient_statistics(GradientStatistics& to,
                                                         const GradientStatistics& from) {
    if (from.found_inf != 0) to.found_inf = from.found_inf;
    to.abs_max = larger_magnitude(to.abs_max, from.abs_max);
    to.sum_squares += from.sum_squares;
    to.nonzero += from.nonzero;
    to.to_zero += from.to_zero;
    to.subnormal += from.subnormal;
    to.overflow += from.overflow;
    to.total += from.total;
    to.f16_abs_max = larger_magnitude(to.f16_abs_max, from.f16_abs_max);
}

template <typename T>
HALFTONE_HOST_DEVICE void copy_if_given(T& field, const T* source) {
    if (source != nullptr) field = *source;
}

HALFTONE_HOST_DEVICE inline void gather_figures(StepFigures& figures, const StepSources& from) {
    copy_if_given(figures.sums, from.sums);
    copy_if_given(figures.gradient_statistics, from.gradient_statistics);
    copy_if_given(figures.counts, from.counts);
    copy_if_given(figures.updates, from.updates[0]);
    for (int i = 1; i < max_optimizers; ++i)
        copy_if_given(figures.further_updates[i - 1], from.updates[i]);
    copy_if_given(figures.state_resets, from.state_resets);
    copy_if_given(figures.loss_scale, from.loss_scale);
    copy_if_given(figures.next_loss_scale, from.next_loss_scale);
    copy_if_given(figures.lr, from.lr);
    copy_if_given(figures.scaled_f16_max, from.scaled_f16_max);
    if (from.scaled_f16_max != nullptr && from.gradient_statistics != nullptr)
        figures.scaled_f16_max =
            larger_magnitude(figures.scaled_f16_max, from.gradient_statistics->f16_abs_max);
    copy_if_given(figures.growth_tracker, from.growth_tracker);
    if (from.deferred_error != nullptr) {
        figures.deferred_error = *from.deferred_error;
        *from.deferred_error = 0;
    }
}

HALFTONE_HOST_DEVICE inline void put_learning_rate(float* lr, const std::int64_t* updates,
                                                   const double* multiplier,
                                                   const LearningRateSchedule& schedule) {
    const double rate = learning_rate(schedule, *updates);
    *lr = static_cast<float>(multiplier != nullptr ? rate * *multiplier : rate);
}

}  // namespace kernels
