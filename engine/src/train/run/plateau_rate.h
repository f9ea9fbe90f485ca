#pragma once

#include "engine/settings/run_config.h"
#include "train/run/best_metric.h"

namespace engine {

/// State of a PlateauRate, for checkpoints.
struct PlateauState {
    BestMetricState best;
    std::int64_t bad_epochs = 0;  ///< since the best, or since the rate last dropped
    double multiplier = 1;        ///< of the learning rate

    bool operator==(const PlateauState&) const = default;
};

/// PyTorch's ReduceLROnPlateau with its defaults (relative threshold 1e-4, no cooldown, no least
/// rate, eps 1e-8), as a multiplier of the schedule's rate. `factor` is schedule.gamma.
class PlateauRate {
public:
    struct Options {
        double lr = 0;  ///< the rate at multiplier 1
        double factor = 0.1;
        std::int64_t patience = 10;  ///< epochs without improvement that are tolerated
    };
    PlateauRate(const std::vector<Metric>& metrics, const Options& options);

    /// An epoch was evaluated; true if the multiplier has moved.
    bool see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
             std::int64_t step);
    double multiplier() const { return multiplier_; }

    PlateauState state() const { return {best_.state(), bad_epochs_, multiplier_}; }
    void restore(const PlateauState& state);

private:
    Options options_;
    BestMetric best_;
    std::int64_t bad_epochs_ = 0;
    double multiplier_ = 1;
};

/// The plateau schedule of the settings; nothing if their schedule is another one.
std::optional<PlateauRate> plateau_rate_of(const RunConfig& config,
                                           const std::vector<Metric>& metrics);

}  // namespace engine
