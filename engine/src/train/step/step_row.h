#pragma once

#include <vector>

#include "engine/record/step_record.h"
#include "tasks/task.h"
#include "train/step/figure_ring.h"

namespace engine {

/// Columns of the record that a task's metrics have. Asks the task for its descriptors once; the
/// task must outlive it.
class TaskColumns {
public:
    explicit TaskColumns(const Task& task);
    /// The metrics of a step, and the updates of the optimizers after the first; NaN elsewhere.
    void fill(StepRecord& row, const kernels::StepFigures& figures) const;

private:
    const Task* task_;
    std::vector<float StepRecord::*> columns_;  // metrics, then updates
    std::size_t metrics_ = 0;                   // how many are metrics
};

/// Columns of the record that the task's metrics take beside accuracy.
std::size_t metric_column_count(const Task& task);

/// How to read a run's figures, by its settings.
struct RowOptions {
    bool scaled = false;       ///< the loss is scaled
    bool may_skip = false;     ///< steps with gradients that are not finite are skipped
    bool watched_f16 = false;  ///< f16 gradients of the backward pass were looked at
    const TaskColumns* columns = nullptr;
};

/// Fills a row from the figures of a step: loss, metrics, gradients, scale, updates, times.
void fill_row(StepRecord& row, const FigureRing::Arrived& arrived, const RowOptions& meaning);

}  // namespace engine
