#include "train/step/step_row.h"

#include <array>
#include <cmath>
#include <limits>

namespace engine {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

/// Gradient statistics, unscaled.
void fill_gradient_figures(StepRecord& row,
                           const kernels::GradientStatistics& gradient_statistics) {
    const double scale = static_cast<double>(row.loss_scale);
    row.grad_norm = static_cast<float>(std::sqrt(gradient_statistics.sum_squares) / scale);
    row.grad_max = static_cast<float>(static_cast<double>(gradient_statistics.abs_max) / scale);
    const bool measurable = std::isfinite(row.grad_max) && row.grad_max > 0;
    row.grad_max_exponent = measurable ? static_cast<float>(std::ilogb(row.grad_max)) : unknown;
    const auto share = [&](std::int64_t part) {
        return gradient_statistics.nonzero > 0
                   ? static_cast<float>(static_cast<double>(part) /
                                        static_cast<double>(gradient_statistics.nonzero))
                   : 0.0f;
    };
    row.f16_zero_share = share(gradient_statistics.to_zero);
    row.f16_subnormal_share = share(gradient_statistics.subnormal);
    row.f16_overflow_share = share(gradient_statistics.overflow);
    row.grad_zero_share =
        gradient_statistics.total > 0
            ? static_cast<float>(1 - static_cast<double>(gradient_statistics.nonzero) /
                                         static_cast<double>(gradient_statistics.total))
            : unknown;
    const bool known = std::isfinite(row.scaled_f16_max) && row.scaled_f16_max > 0;
    row.scale_ceiling =
        known ? static_cast<float>(65504.0 * scale / static_cast<double>(row.scaled_f16_max))
              : unknown;
}

/// Marks of a step: its begin, then the ends of the forward and the backward pass of each batch,
/// and the end. A step that was replayed as a whole has its begin and its end alone.
void fill_times(StepRecord& row, const std::vector<float>& gaps) {
    for (const float gap : gaps) row.step_ms += gap;
    if (gaps.size() == 1) {
        row.forward_ms = row.backward_ms = row.optimizer_ms = unknown;
        return;
    }
    for (std::size_t i = 0; i + 1 < gaps.size(); ++i)
        (i % 2 == 0 ? row.forward_ms : row.backward_ms) += gaps[i];
    row.optimizer_ms = gaps.back();
}

}  // namespace

std::size_t metric_column_count(const Task& task) {
    const auto metrics = task.step_metrics();
    return static_cast<std::size_t>(
        std::count_if(metrics.begin(), metrics.end(),
                      [](const Metric& metric) { return metric.key != "accuracy"; }));
}

TaskColumns::TaskColumns(const Task& task) : task_(&task) {
    const std::vector<Metric> metrics = task.step_metrics();
    for (std::size_t i = 0; i < metrics.size(); ++i) columns_.push_back(metric_column(metrics, i));
    metrics_ = metrics.size() - (task.optimizer_names().size() - 1);
}

void TaskColumns::fill(StepRecord& row, const kernels::StepFigures& figures) const {
    row.accuracy = unknown;
    for (const auto column : metric_columns) row.*column = unknown;
    std::array<double, most_metrics + 1> values{};  // accuracy has a column of its own
    task_->derive(figures.sums, values);
    for (std::size_t i = 0; i < metrics_; ++i) row.*columns_[i] = static_cast<float>(values[i]);
    for (std::size_t i = metrics_; i < columns_.size(); ++i)
        row.*columns_[i] = static_cast<float>(figures.further_updates[i - metrics_]);
}

void fill_row(StepRecord& row, const FigureRing::Arrived& arrived, const RowOptions& meaning) {
    const kernels::StepFigures& figures = arrived.figures;
    row.loss = static_cast<float>(figures.sums.loss / figures.sums.weight);
    meaning.columns->fill(row, figures);
    row.lr = figures.lr;
    row.loss_scale = meaning.scaled ? figures.loss_scale : 1;
    row.growth_tracker = figures.growth_tracker;
    row.found_inf = meaning.may_skip && figures.gradient_statistics.found_inf != 0 ? 1 : 0;
    row.updates = figures.updates;
    const bool any =
        meaning.watched_f16 && std::isfinite(figures.scaled_f16_max) && figures.scaled_f16_max > 0;
    row.scaled_f16_max = any ? figures.scaled_f16_max : unknown;
    fill_gradient_figures(row, figures.gradient_statistics);
    row.lost_update_share = figures.counts.nonzero > 0
                                ? static_cast<float>(static_cast<double>(figures.counts.lost) /
                                                     static_cast<double>(figures.counts.nonzero))
                                : unknown;
    fill_times(row, arrived.gaps);
}

}  // namespace engine
