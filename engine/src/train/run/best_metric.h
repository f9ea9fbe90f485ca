#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/base/metric.h"

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

}  // namespace engine
