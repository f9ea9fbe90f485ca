#pragma once

#include <QString>
#include <vector>

#include "engine/base/metric.h"

namespace ui {

/// "88.4 %" of a share, else "0.312"; "–" if it is not known.
QString metricValue(const engine::Metric& metric, double value);
/// The first metric of a task, or the loss where it has none.
engine::Metric primaryMetric(const std::vector<engine::Metric>& metrics);
/// Its value for a part; the loss if primaryMetric() returned the loss.
double valueOf(const engine::PartFigures& figures, const engine::Metric& metric);
/// "Accuracy", in the window's language.
QString metricTitle(const engine::Metric& metric);
/// The metric within a sentence: "accuracy", "RMSE".
QString metricInline(const engine::Metric& metric);
/// The metric that some task calls so.
engine::Metric metricOf(const std::string& key);
/// The primary metric of the test part, as short as a card needs it: "test acc.", "test RMSE".
QString testCaption(const std::vector<engine::Metric>& metrics);
/// "images", "rows", "tokens" of what one sample is called, in the window's language.
QString unitName(const std::string& unit);
/// Unit of throughput for such samples: "rows/s" of a table, "tokens/s" of a text, else
/// "samples/s".
QString speedUnit(const std::string& unit);
/// speedUnit() as a title: "Rows/s".
QString speedTitle(const std::string& unit);

}  // namespace ui
