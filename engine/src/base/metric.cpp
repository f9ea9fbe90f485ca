#include "engine/base/metric.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace engine {

std::vector<Metric> classification_metrics() {
    return {{.key = "accuracy", .title = "Accuracy", .is_share = true}};
}

double PartFigures::of(std::string_view key) const {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const MetricValue& value) { return value.key == key; });
    return found == metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

double ranked_figure(const PartFigures& part, std::string_view key) {
    return key.empty() || std::isnan(part.loss) ? part.loss : part.of(key);
}

bool PartFigures::known() const {
    return !std::isnan(loss) ||
           std::any_of(metrics.begin(), metrics.end(),
                       [](const MetricValue& value) { return !std::isnan(value.value); });
}

PartFigures unknown_figures(const std::vector<Metric>& metrics) {
    PartFigures figures;
    for (const Metric& metric : metrics) figures.metrics.push_back({metric.key});
    return figures;
}

}  // namespace engine
