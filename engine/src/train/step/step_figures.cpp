#include "train/step/step_figures.h"

#include "tensor/deferred_errors.h"

namespace engine {

void StepFigures::push(const DeviceRecord<kernels::StepFigures>& figures, const StepRecord& row) {
    ring_.push(figures);
    in_flight_.push_back(row);
}

std::optional<FinishedStep> StepFigures::take(bool all, const RowOptions& meaning) {
    if (ring_.size() == 0 || (!all && ring_.size() <= ring_.depth())) return std::nullopt;
    const FigureRing::Arrived arrived = ring_.pop();
    FinishedStep step{.row = in_flight_.front(), .refused = {}};
    in_flight_.pop_front();
    fill_row(step.row, arrived, meaning);
    step.sums = arrived.figures.sums;
    if (meaning.scaled) step.next_loss_scale = static_cast<double>(arrived.figures.next_loss_scale);
    step.state_resets = arrived.figures.state_resets;
    step.refused = deferred_error_in(arrived.figures.deferred_error);
    return step;
}

}  // namespace engine
