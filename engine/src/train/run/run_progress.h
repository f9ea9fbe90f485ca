#pragma once

#include "kernels/step_figures.h"
#include "train/step/saved_numbers.h"

namespace engine {

/// How far a run has come on the host. A checkpoint holds it.
struct RunProgress {
    std::int64_t epoch = 0;      ///< completed
    std::int64_t batch = 0;      ///< batches taken of the epoch under way
    bool epoch_ended = false;    ///< at the last step, and the epoch was not evaluated yet
    std::int64_t evaluated = 0;  ///< steps made before the last evaluation
    double elapsed_s = 0;        ///< the run's own time
    double epoch_start_s = 0;    ///< of elapsed_s
    kernels::MetricSums sums{};  ///< of the training steps of the epoch
    double loss_sum = 0;         ///< of their losses as the record has them
    std::int64_t replaced = 0;   ///< damaged samples of training whose place another took

    /// The figures of the epoch start again.
    void begin_epoch();
    void add(const kernels::MetricSums& step, double loss);
};

SavedNumbers saved_state(const RunProgress& progress);
/// Throws Error(data) if a number is missing.
void load_state(RunProgress& progress, const SavedNumbers& saved);

}  // namespace engine
