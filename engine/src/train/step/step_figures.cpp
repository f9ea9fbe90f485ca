#include "train/step/step_figures.h"

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "kernels/elementwise.h"
#include "tensor/deferred_errors.h"

namespace engine {
namespace {

void wait_for(const StepMarks& marks) {
    constexpr int spins = 2000;  // about what a short step takes
    for (int i = 0; !marks.passed(); ++i) {
        if (i < spins)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

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
/// and the end. A step that was replayed as a whole has its end alone.
void fill_times(StepRecord& row, const std::vector<float>& gaps) {
    if (gaps.empty()) {
        row.step_ms = row.forward_ms = row.backward_ms = row.optimizer_ms = unknown;
        return;
    }
    for (const float gap : gaps) row.step_ms += gap;
    for (std::size_t i = 0; i + 1 < gaps.size(); ++i)
        (i % 2 == 0 ? row.forward_ms : row.backward_ms) += gaps[i];
    row.optimizer_ms = gaps.back();
}

}  // namespace

FigureRing::FigureRing(const Device& device)
    : device_(device), marks_(kernels::FigureSlots::count, StepMarks(device)) {
    const DeviceScope scope(device);  // its context is the one that pins them
    for (kernels::StepFigures*& slot : slots_.at) {
        slot = device.kind == Device::Kind::cpu
                   ? new kernels::StepFigures
                   : static_cast<kernels::StepFigures*>(
                         kernels::cuda::allocate_pinned(sizeof(kernels::StepFigures)));
    }
}

FigureRing::~FigureRing() {
    try {  // nothing may be written into memory that is given back
        while (size_ > 0) pop();
        if (begun_ && device_.kind == Device::Kind::cuda) {
            const DeviceScope scope(device_);
            kernels::cuda::Event last;
            last.record(current_stream());
            wait_until_passed(last);
        }
    } catch (...) {  // the device has failed, and writes nothing
    }
    for (kernels::StepFigures* slot : slots_.at) {
        if (device_.kind == Device::Kind::cpu)
            delete slot;
        else
            kernels::cuda::release_pinned(slot);
    }
}

StepMarks& FigureRing::begin(const DeviceRecord<kernels::StepFigures>& figures) {
    // A step that failed may have ended on the device alone. The next one takes its number.
    if (begun_) {
        on(device_, kernels::cpu::fill, kernels::cuda::fill)(
            kernels::Array{&figures.data()->ended, DType::i64, 1}, static_cast<double>(pushed_),
            current_stream());
    }
    begun_ = true;
    StepMarks& marks = marks_[slot_of(pushed_)];
    marks.restart();
    return marks;
}

void FigureRing::push() {
    begun_ = false;
    ++pushed_;
    ++size_;
}

FigureRing::Arrived FigureRing::pop() {
    const std::size_t slot = slot_of(pushed_ - static_cast<std::int64_t>(size_));
    wait_for(marks_[slot]);
    --size_;
    return {*slots_.at[slot], marks_[slot].gaps()};
}

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
    std::array<double, max_metrics + 1> values{};  // accuracy has a column of its own
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

void StepFigures::push(const StepRecord& row) {
    ring_.push();
    in_flight_.push_back(row);
}

std::optional<CompletedStep> StepFigures::take(bool all, const RowOptions& meaning) {
    if (ring_.size() == 0 || (!all && ring_.size() <= ring_.depth())) return std::nullopt;
    const FigureRing::Arrived arrived = ring_.pop();
    CompletedStep step{.row = in_flight_.front(), .refused = {}};
    in_flight_.pop_front();
    fill_row(step.row, arrived, meaning);
    step.sums = arrived.figures.sums;
    if (meaning.scaled) step.next_loss_scale = static_cast<double>(arrived.figures.next_loss_scale);
    step.state_resets = arrived.figures.state_resets;
    step.refused = deferred_error_in(arrived.figures.deferred_error);
    return step;
}

}  // namespace engine
