#pragma once

#include "engine/settings/run_config.h"
#include "train/run/best_metric.h"

namespace engine {

/// Ends a run whose metric has stopped improving: `patience` evaluated epochs in a row without one
/// that is better than the best by more than `min_delta`. Patience 0: never.
class EarlyStopping {
public:
    EarlyStopping(const EarlyStoppingConfig& config, const std::vector<Metric>& metrics)
        : patience_(config.patience), best_(metrics, {.absolute = config.min_delta}) {}

    /// An epoch was evaluated; true if the run is to end.
    bool see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
             std::int64_t step) {
        best_.see(validation, test, epoch, step);
        return is_due();
    }
    bool is_due() const { return patience_ > 0 && best_.state().waited >= patience_; }

    const BestMetric& best() const { return best_; }
    void restore(const BestMetricState& state) { best_.restore(state); }

private:
    std::int64_t patience_;
    BestMetric best_;
};

}  // namespace engine
