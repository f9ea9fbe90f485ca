#pragma once

#include <string_view>

#include "engine/base/metric.h"

namespace engine {

/// The figure by which evaluations are ranked: the metric, or the loss if `key` is empty. NaN,
/// which is never the best, where the loss is NaN: outputs were NaN, of which a metric may know
/// nothing.
double ranked_figure(const PartFigures& part, std::string_view key);

}  // namespace engine
