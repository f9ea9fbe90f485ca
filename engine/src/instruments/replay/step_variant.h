#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/instruments/skip_report.h"
#include "engine/instruments/xray.h"
#include "train/run/step_capsule.h"
#include "train/step/step_observer.h"

namespace engine {

/// How a step that is computed again differs from the step of the run.
struct StepVariant {
    std::optional<double> scale{};  ///< the loss scale
    /// Leaves out this row of the batch: of all micro-batches if streams carry state, else of
    /// `micro_batch`.
    std::optional<std::int64_t> without_row{};
    std::int64_t micro_batch = 0;
    bool fp32 = false;
};

/// The settings in FP32 alone: no autocast, no 16-bit weights, no forced types, no loss scale.
RunConfig fp32_settings(RunConfig config);

/// The capsule with another loss scale, where its precision has one. Its batches are copied.
StepCapsule with_scale(const StepCapsule& capsule, double scale);

/// The step of the capsule with some rows of its batch alone, in this order, and the carried state
/// of these streams. Throws Error(value) for an out-of-range row, for no rows, and for a batch
/// with a packed field, whose rows cannot be taken apart.
StepCapsule with_rows(const StepCapsule& capsule, std::int64_t micro_batch,
                      const std::vector<std::int64_t>& rows);

/// Computes the step in this variant. Throws Error.
StepTrial try_step(const StepCapsule& capsule, const StepVariant& variant);

/// The step at its own scale, at half of it, a quarter, and so on, down to 1 or to the first scale
/// at which it passes. Without a loss scale above 1: only the step as it is.
std::vector<StepTrial> scale_ladder(const StepCapsule& capsule, double scale);

/// Copies the unscaled gradients of a step to the host, in f32, by the names of their parameters.
class StepGradients final : public StepObserver {
public:
    void begin(const StepView&) override { gradients_.clear(); }
    void before_update(const StepView& step) override;
    const std::map<std::string, std::vector<double>>& values() const { return gradients_; }

private:
    std::map<std::string, std::vector<double>> gradients_;
};

/// Relative error of gradients: the norm of the difference over the norm of the exact ones, over
/// all parameters. inf if the first has a non-finite value, or if the second is zero and the first
/// is not; 0 if both are zero.
double relative_error(const StepGradients& found, const StepGradients& exact);

/// Compares a step under other settings with the same step in FP32.
class StepComparison {
public:
    /// Computes the step in FP32. The capsule must outlive this object. Throws Error.
    explicit StepComparison(const StepCapsule& capsule);
    /// Computes the step under these settings on a copy, timed at the best of its next three runs.
    /// Throws Error.
    XrayOutcome outcome(const RunConfig& config) const;
    /// XrayOutcome::gradient_error alone.
    double gradient_error(const RunConfig& config) const;

private:
    const StepCapsule& capsule_;
    std::shared_ptr<StepGradients> exact_;
};

}  // namespace engine
