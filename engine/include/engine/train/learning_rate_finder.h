#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"

namespace engine {

struct FindRateOptions {
    double lowest = 1e-7;
    double highest = 10;
    std::int64_t steps = 100;  ///< updates from the lowest rate to the highest
    double diverged = 4;       ///< ends where the smoothed loss is this many times its best
};

/// One update of the range test.
struct RatePoint {
    double lr;
    double loss;
    double smoothed;  ///< mean of the losses so far, of which the last 50 count most
};

struct FoundRate {
    std::vector<RatePoint> points;
    /// Rate at which the smoothed loss falls fastest over the logarithm of the rate, taken over a
    /// tenth of the curve.
    std::optional<double> steepest;
    /// Halfway down its longest descent: usually the rate to train with.
    std::optional<double> valley;
    std::vector<Message> warnings;
};

/// Asked after each update; false ends the test.
using FindRateProgress = std::function<bool(const RatePoint&)>;

/// Learning-rate range test (Smith 2017; smoothing and suggestions follow fastai's finder). Trains
/// a fresh model of these settings for `steps` updates while the rate rises exponentially;
/// optimizer.lr and the schedule are ignored. Keeps nothing: no run, no weights. The settings must
/// have passed validate(). Throws Error.
FoundRate find_learning_rate(const RunConfig& config, const FindRateOptions& options = {},
                             const FindRateProgress& progress = {});

}  // namespace engine
