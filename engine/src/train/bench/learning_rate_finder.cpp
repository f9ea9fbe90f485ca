#include "engine/train/learning_rate_finder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/bench/rate_suggestion.h"
#include "train/run/training_batches.h"

namespace engine {
namespace {

/// Multiplies the rate after each update: rate i is lowest · (highest / lowest)^(i / (steps − 1)).
kernels::LearningRateSchedule ramp(const FindRateOptions& options) {
    const double intervals = static_cast<double>(std::max<std::int64_t>(options.steps - 1, 1));
    return {.base = options.lowest,
            .kind = kernels::ScheduleKind::step,
            .planned = options.steps,
            .gamma = std::pow(options.highest / options.lowest, 1 / intervals)};
}

}  // namespace

FoundRate find_learning_rate(const RunConfig& config, const FindRateOptions& options,
                             const FindRateProgress& progress) {
    FreshSteps test(config);
    test.trainer().set_schedule(ramp(options));
    FoundRate found;
    SmoothedLoss smoothed;
    double best = std::numeric_limits<double>::infinity();
    // A skipped step has the rate of the next one; a scale that never settles must end, too.
    const std::int64_t max_steps = 3 * options.steps;
    for (std::int64_t i = 0; i < max_steps && std::ssize(found.points) < options.steps; ++i) {
        const StepRecord row = test.step();
        const double loss = row.loss;
        if (!std::isfinite(loss)) break;
        if (row.found_inf != 0) continue;
        const RatePoint point{row.lr, loss, smoothed.add(loss)};
        found.points.push_back(point);
        best = std::min(best, point.smoothed);
        if (progress && !progress(point)) break;
        if (point.smoothed > options.diverged * best) break;
    }
    const auto usable = usable_points(found.points, options.steps);
    found.steepest = steepest_rate(usable);
    found.valley = valley_rate(usable);
    found.warnings = test.warnings();
    return found;
}

}  // namespace engine
