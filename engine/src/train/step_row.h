#pragma once

#include "engine/step_record.h"
#include "tasks/task.h"
#include "train/figure_ring.h"

namespace engine {

/// What a run's settings say of its figures.
struct RowMeaning {
    bool scaled = false;       ///< the loss is scaled
    bool may_skip = false;     ///< steps with gradients that are not finite are skipped
    bool watched_f16 = false;  ///< f16 gradients of the backward pass were looked at
    const Task* task = nullptr;
};

/// Fills what the figures of a step tell into its row: loss, metrics, gradients,
/// scale, updates, times.
void fill_row(StepRecord& row, const FigureRing::Arrived& arrived, const RowMeaning& meaning);

}  // namespace engine
