#pragma once

#include "kernels/step_ends.h"
#include "shared/step_figures.h"

/// The one-thread parts of kernels/step_ends.h: shared by the twins.
namespace kernels {

HALFTONE_HOST_DEVICE inline void put_rate_of(const StepBeginning& beginning, int optimizer) {
    if (beginning.lr[optimizer] == nullptr) return;
    put_learning_rate(beginning.lr[optimizer], beginning.updates[optimizer], beginning.multiplier,
                      beginning.schedule);
}

HALFTONE_HOST_DEVICE inline void end_of_step(StepFigures& figures, const StepEnding& ending) {
    gather_figures(figures, ending.before);
    if (ending.scale != nullptr) {
        ScaleState state{*ending.scale, *ending.growth_tracker, *ending.hysteresis_left};
        apply(state, *ending.found_inf != 0, ending.rule);
        *ending.scale = state.scale;
        *ending.growth_tracker = state.growth_tracker;
        *ending.hysteresis_left = state.hysteresis_left;
    }
    if (ending.number != nullptr) ++*ending.number;
    gather_figures(figures, ending.after);
    static_assert(FigureSlots::count == 2);
    StepFigures* const slot = figures.ended++ % 2 == 0 ? ending.slots.at[0] : ending.slots.at[1];
    if (slot != nullptr) *slot = figures;
}

}  // namespace kernels
