#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/base/metric.h"
#include "engine/settings/run_config.h"
#include "train/run/run_listener.h"

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
    double figure(const Evaluated& evaluated) const;
    /// Takes an evaluation into account; true if it is better than all before. NaN never is.
    bool see(const Evaluated& evaluated);

    const BestMetricState& state() const { return state_; }
    void restore(const BestMetricState& state) { state_ = state; }

private:
    bool is_better(double value) const;

    std::string key_;  // empty: the loss
    bool higher_is_better_ = false;
    Margin margin_;
    BestMetricState state_;
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
    bool see(const Evaluated& evaluated);
    double multiplier() const { return multiplier_; }

    void save_into(SavedNumbers& rules) const;
    /// Begins anew if the numbers hold no plateau, since the schedule was another one.
    void load_from(const SavedNumbers& rules);

private:
    Options options_;
    BestMetric best_;
    std::int64_t bad_epochs_ = 0;  // since the best, or since the rate last dropped
    double multiplier_ = 1;
};

/// The plateau schedule of the settings; nothing if their schedule is another one.
std::optional<PlateauRate> make_plateau_rate(const RunConfig& config,
                                             const std::vector<Metric>& metrics);

/// Consequences of the evaluation at an epoch's end: the plateau schedule, and early stopping,
/// which ends a run after `patience` evaluated epochs in a row without one that is better than the
/// best by more than `min_delta`. Patience 0: never.
class EpochRules final : public RunListener {
public:
    /// `metrics`: the task's.
    EpochRules(const RunConfig& config, const std::vector<Metric>& metrics);

    /// Nothing follows where there is no part to evaluate.
    RunRequest on_epoch(const Evaluated& evaluated) override;
    void save_state(SavedRun& saved) const override;
    RunRequest load_state(const SavedRun& saved) override;

private:
    RunRequest request() const;

    std::optional<PlateauRate> plateau_;
    std::int64_t patience_;
    BestMetric stopping_;
};

/// As a checkpoint holds it, its numbers after a prefix.
void save_into(SavedNumbers& out, const std::string& prefix, const BestMetricState& best);
BestMetricState best_metric_of(const SavedNumbers& saved, const std::string& prefix);

}  // namespace engine
