#include "train/run/best_metric.h"

#include <cmath>

#include "base/ranked_figure.h"

namespace engine {

BestMetric::BestMetric(const std::vector<Metric>& metrics, Margin margin) : margin_(margin) {
    if (metrics.empty()) return;
    key_ = metrics.front().key;
    higher_is_better_ = metrics.front().higher_is_better;
}

double BestMetric::figure(const PartFigures& validation, const PartFigures& test) const {
    const PartFigures& part = validation.known() ? validation : test;
    return ranked_figure(part, key_);
}

bool BestMetric::is_better(double value) const {
    if (std::isnan(value)) return false;
    constexpr double worst = std::numeric_limits<double>::infinity();
    if (std::isnan(state_.value)) return value != (higher_is_better_ ? -worst : worst);
    return higher_is_better_ ? value > state_.value * (1 + margin_.relative) + margin_.absolute
                             : value < state_.value * (1 - margin_.relative) - margin_.absolute;
}

bool BestMetric::see(const PartFigures& validation, const PartFigures& test, std::int64_t epoch,
                     std::int64_t step) {
    const double value = figure(validation, test);
    if (!is_better(value)) {
        ++state_.waited;
        return false;
    }
    state_ = {.value = value, .epoch = epoch, .step = step, .waited = 0};
    return true;
}

}  // namespace engine
