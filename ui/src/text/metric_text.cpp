#include "text/metric_text.h"

#include <QCoreApplication>
#include <cmath>

#include "engine/settings/catalog.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {
namespace {

struct MetricWords {
    Q_DECLARE_TR_FUNCTIONS(MetricWords)
};

}  // namespace

QString metricValue(const engine::Metric& metric, double value) {
    if (std::isnan(value)) return unmeasured();
    return metric.is_share ? percent(value) : significant(value);
}

engine::Metric primaryMetric(const std::vector<engine::Metric>& metrics) {
    if (!metrics.empty()) return metrics.front();
    return {.key = "", .title = "Loss", .higher_is_better = false};
}

double valueOf(const engine::PartFigures& figures, const engine::Metric& metric) {
    return metric.key.empty() ? figures.loss : figures.of(metric.key);
}

QString metricTitle(const engine::Metric& metric) { return engineText(metric.title); }

QString metricInline(const engine::Metric& metric) {
    const QString title = metricTitle(metric);
    // Words are in small letters there; RMSE and R² stay as they are.
    const bool word = title.size() > 1 && title.at(1).isLower();
    return word ? title.toLower() : title;
}

engine::Metric metricOf(const std::string& key) {
    for (const auto& task : engine::tasks()) {
        for (const auto& metric : task.metrics) {
            if (metric.key == key) return metric;
        }
    }
    return {.key = key, .title = key};
}

QString testCaption(const std::vector<engine::Metric>& metrics) {
    const engine::Metric metric = primaryMetric(metrics);
    if (metric.key == "accuracy") return MetricWords::tr("test acc.");
    return spaced(MetricWords::tr("test %1").arg(metricInline(metric)));
}

QString unitName(const std::string& unit) { return engineText(unit); }

QString speedUnit(const std::string& unit) {
    if (unit == "tokens") return MetricWords::tr("tokens/s");
    return unit == "rows" ? MetricWords::tr("rows/s") : MetricWords::tr("samples/s");
}

QString speedTitle(const std::string& unit) {
    QString title = speedUnit(unit);
    return title.replace(0, 1, title.at(0).toUpper());
}

}  // namespace ui
