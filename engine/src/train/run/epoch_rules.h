#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/base/metric.h"
#include "engine/settings/run_config.h"
#include "train/step/saved_numbers.h"

namespace engine {

/// How much better than the best a value must be to take its place. A lower-is-better figure is
/// better if value < best * (1 - relative) - absolute.
struct Margin {
    double relative = 0;
    double absolute = 0;
};

/// State of a BestMetric, for checkpoints.
struct BestMetricState {
    double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN: none yet
    std::int64_t epoch = 0;
    std::int64_t step = 0;
    std::int64_t waited = 0;  ///< evaluations since, without a better one

    bool operator==(const BestMetricState&) const = default;
};

/// The best evaluation of a run, by its primary metric on the validation part, else on the test
/// part; by the loss if the task has no metric. The best checkpoint, the plateau schedule and early
/// stopping all use it.
class BestMetric {
public:
    /// `metrics`: the task's, the primary one first.
    explicit BestMetric(const std::vector<Metric>& metrics, Margin margin = {});

    /// The figure that is compared (ranked_figure); NaN if neither part was evaluated.
    double figure(const PartFigures& validation, const PartFigures& test) const;
    /// Takes an evaluation into account; true if it is better than all before. NaN never is.
    bool see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
             std::int64_t step);

    /// Empty: the loss.
    const std::string& key() const { return key_; }
    bool higher_is_better() const { return higher_is_better_; }
    const BestMetricState& state() const { return state_; }
    void restore(const BestMetricState& state) { state_ = state; }

private:
    bool is_better(double value) const;

    std::string key_;
    bool higher_is_better_ = false;
    Margin margin_;
    BestMetricState state_;
};

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
std::optional<PlateauRate> make_plateau_rate(const RunConfig& config,
                                             const std::vector<Metric>& metrics);

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
