#pragma once

#include <optional>

#include "train/run/early_stopping.h"
#include "train/run/plateau_rate.h"
#include "train/step/saved_numbers.h"

namespace engine {

/// Consequences of the evaluation at an epoch's end: the plateau schedule and early stopping.
class EpochRules {
public:
    /// `metrics`: the task's.
    EpochRules(const RunConfig& config, const std::vector<Metric>& metrics);

    /// An epoch ended and was evaluated; nothing follows where there is no part to evaluate.
    void see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
             std::int64_t step);
    /// Multiplier of the schedule's rate.
    double rate_multiplier() const { return plateau_ ? plateau_->multiplier() : 1; }
    /// The run is to end.
    bool stop() const { return stopping_.is_due(); }

    SavedNumbers saved_state() const;
    /// A plateau that was not saved, since the schedule was another one, begins anew.
    void load_state(const SavedNumbers& saved);

private:
    std::optional<PlateauRate> plateau_;
    EarlyStopping stopping_;
};

/// As a checkpoint holds it, its numbers after a prefix.
void save_into(SavedNumbers& out, const std::string& prefix, const BestMetricState& best);
BestMetricState best_metric_of(const SavedNumbers& saved, const std::string& prefix);

}  // namespace engine
