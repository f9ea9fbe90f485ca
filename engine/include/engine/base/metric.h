#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A figure of merit of a task, beside the loss. Texts are English, as in the catalog.
struct Metric {
    std::string key;    ///< in events and CSV, with `test_` before it for the test part: "accuracy"
    std::string title;  ///< "Accuracy"
    std::string unit{};  ///< of its values, as the data call it; empty: none
    bool higher_is_better = true;
    bool is_share = false;  ///< from 0 to 1: shown in per cent, differences in points

    bool operator==(const Metric&) const = default;
};

/// The metrics of classification: those of runs that earlier versions wrote.
std::vector<Metric> classification_metrics();

/// Value of a metric; NaN: unknown.
struct MetricValue {
    std::string key;
    double value = std::numeric_limits<double>::quiet_NaN();
};

/// How a model does on a part of the data. Everything NaN: it was not evaluated.
struct PartFigures {
    double loss = std::numeric_limits<double>::quiet_NaN();
    std::vector<MetricValue> metrics{};

    /// NaN if there is no such metric.
    double of(std::string_view key) const;
    bool known() const;
};

/// The figure by which evaluations are ranked: the metric, or the loss if `key` is empty. NaN,
/// which is never the best, where the loss is NaN: outputs were NaN, of which a metric may know
/// nothing.
double ranked_figure(const PartFigures& part, std::string_view key);

/// Figures with a value for each metric, all NaN.
PartFigures unknown_figures(const std::vector<Metric>& metrics);

}  // namespace engine
