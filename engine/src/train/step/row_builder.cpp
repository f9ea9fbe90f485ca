#include "train/step/row_builder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

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

void fill_machine(StepRecord& row, const MachineFigures& machine) {
    row.card_load = machine.card_load;
    row.card_memory_bytes = machine.card_memory_bytes;
    row.card_celsius = machine.card_celsius;
    row.card_watts = machine.card_watts;
    row.card_joules = machine.card_joules;
    row.cpu_joules = machine.cpu_joules;
}

float share(std::int64_t part, std::int64_t whole, float of_nothing) {
    return whole > 0 ? static_cast<float>(static_cast<double>(part) / static_cast<double>(whole))
                     : of_nothing;
}

void fill_casts(StepRecord& row, const std::optional<StepCasts>& casts) {
    constexpr float StepRecord::*zeroed[] = {&StepRecord::x_zeroed_share,
                                             &StepRecord::w_zeroed_share,
                                             &StepRecord::g_zeroed_share};
    constexpr float StepRecord::*saturated[] = {&StepRecord::x_saturated_share,
                                                &StepRecord::w_saturated_share,
                                                &StepRecord::g_saturated_share};
    const StepCasts all = casts.value_or(StepCasts{});
    float headroom = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < all.size(); ++i) {
        row.*zeroed[i] = share(all[i].counts.zeroed, all[i].counts.nonzero, unknown);
        row.*saturated[i] = share(all[i].counts.saturated, all[i].elements, unknown);
        headroom = std::min(headroom, all[i].headroom);
    }
    row.scale_headroom = std::isinf(headroom) ? unknown : headroom;
}

/// The columns of the host; those that are not known yet are unknown.
StepRecord submitted_row(const SubmittedStep& step) {
    StepRecord row{};
    row.step = step.step;
    row.samples = step.samples;
    row.memory_bytes = step.memory_bytes;
    row.peak_bytes = step.peak_bytes;
    row.scale_floor = step.scale_floor;
    row.exchange_ms = row.exchange_hidden_share = unknown;
    fill_machine(row, {});
    fill_casts(row, step.casts);
    row.fallback_products = step.kept_share;
    return row;
}

/// Learning rate, loss scale and counts.
void fill_update(StepRecord& row, const kernels::StepFigures& figures, const RowOptions& options) {
    row.lr = figures.lr;
    row.loss_scale = options.scaled ? figures.loss_scale : 1;
    row.growth_tracker = figures.growth_tracker;
    row.found_inf = options.may_skip && figures.gradient_statistics.found_inf != 0 ? 1 : 0;
    row.updates = figures.updates + options.updates_apart;
    row.lost_update_share = share(figures.counts.lost, figures.counts.nonzero, unknown);
}

/// Gradient statistics, unscaled.
void fill_gradients(StepRecord& row, const kernels::StepFigures& figures, bool watched_f16) {
    const kernels::GradientStatistics& gradients = figures.gradient_statistics;
    const double scale = static_cast<double>(row.loss_scale);
    row.grad_norm = static_cast<float>(std::sqrt(gradients.sum_squares) / scale);
    row.grad_max = static_cast<float>(static_cast<double>(gradients.abs_max) / scale);
    const bool measurable = std::isfinite(row.grad_max) && row.grad_max > 0;
    row.grad_max_exponent = measurable ? static_cast<float>(std::ilogb(row.grad_max)) : unknown;
    row.f16_zero_share = share(gradients.to_zero, gradients.nonzero, 0);
    row.f16_subnormal_share = share(gradients.subnormal, gradients.nonzero, 0);
    row.f16_overflow_share = share(gradients.overflow, gradients.nonzero, 0);
    row.grad_zero_share = gradients.total > 0
                              ? static_cast<float>(1 - static_cast<double>(gradients.nonzero) /
                                                           static_cast<double>(gradients.total))
                              : unknown;
    const float f16_max = figures.scaled_f16_max;
    const bool known = watched_f16 && std::isfinite(f16_max) && f16_max > 0;
    row.scaled_f16_max = known ? f16_max : unknown;
    row.scale_ceiling =
        known ? static_cast<float>(65504.0 * scale / static_cast<double>(f16_max)) : unknown;
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

/// The part of the exchange that the backward pass did not hide comes after its mark.
void fill_exchange(StepRecord& row, const ExchangeTimes& times) {
    row.exchange_ms = static_cast<float>(times.total_ms);
    row.exchange_hidden_share =
        times.total_ms > 0 ? static_cast<float>(times.hidden_ms / times.total_ms) : 1;
    row.optimizer_ms -= row.exchange_ms * (1 - row.exchange_hidden_share);
}

}  // namespace

std::size_t metric_column_count(const Task& task) {
    const auto metrics = task.step_metrics();
    return static_cast<std::size_t>(
        std::count_if(metrics.begin(), metrics.end(),
                      [](const Metric& metric) { return metric.key != "accuracy"; }));
}

RowBuilder::RowBuilder(const Device& device, const Task& task)
    : device_(device), task_(task), marks_(kernels::FigureSlots::count, StepMarks(device)) {
    const std::vector<Metric> metrics = task.step_metrics();
    for (std::size_t i = 0; i < metrics.size(); ++i) columns_.push_back(metric_column(metrics, i));
    metrics_ = metrics.size() - (task.optimizer_names().size() - 1);
    const DeviceScope scope(device);  // its context is the one that pins them
    for (kernels::StepFigures*& slot : slots_.at) {
        slot = device.kind == Device::Kind::cpu
                   ? new kernels::StepFigures
                   : static_cast<kernels::StepFigures*>(
                         kernels::cuda::allocate_pinned(sizeof(kernels::StepFigures)));
    }
}

RowBuilder::~RowBuilder() {
    try {  // nothing may be written into memory that is given back
        for (std::int64_t step = pushed_ - std::ssize(in_flight_); step < pushed_; ++step)
            wait_for(marks_[slot_of(step)]);
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

StepMarks& RowBuilder::begin(const DeviceRecord<kernels::StepFigures>& figures) {
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

std::size_t RowBuilder::slot_of(std::int64_t step) {
    return static_cast<std::size_t>(step % kernels::FigureSlots::count);
}

void RowBuilder::push(SubmittedStep step) {
    begun_ = false;
    ++pushed_;
    in_flight_.push_back(std::move(step));
}

void RowBuilder::fill_metrics(StepRecord& row, const kernels::StepFigures& figures) const {
    row.accuracy = unknown;
    for (const auto column : metric_columns) row.*column = unknown;
    std::array<double, max_metrics + 1> values{};  // accuracy has a column of its own
    task_.derive(figures.sums, values);
    for (std::size_t i = 0; i < metrics_; ++i) row.*columns_[i] = static_cast<float>(values[i]);
    for (std::size_t i = metrics_; i < columns_.size(); ++i)
        row.*columns_[i] = static_cast<float>(figures.further_updates[i - metrics_]);
}

std::optional<CompletedStep> RowBuilder::take(bool all, const RowOptions& options) {
    if (in_flight_.size() <= (all ? 0 : depth())) return std::nullopt;
    const std::size_t slot = slot_of(pushed_ - std::ssize(in_flight_));
    wait_for(marks_[slot]);
    const SubmittedStep submitted = std::move(in_flight_.front());
    in_flight_.pop_front();
    const kernels::StepFigures figures = *slots_.at[slot];
    CompletedStep step{.row = submitted_row(submitted), .sums = figures.sums, .refused = {}};
    step.row.loss = static_cast<float>(figures.sums.loss / figures.sums.weight);
    fill_metrics(step.row, figures);
    fill_update(step.row, figures, options);
    fill_gradients(step.row, figures, options.watched_f16);
    fill_times(step.row, marks_[slot].gaps());
    if (submitted.exchange) fill_exchange(step.row, submitted.exchange());
    if (options.scaled) step.next_loss_scale = static_cast<double>(figures.next_loss_scale);
    step.state_resets = figures.state_resets;
    step.refused = deferred_error_in(figures.deferred_error);
    return step;
}

void RowBuilder::complete(CompletedStep& step, const LoopFigures& loop) {
    step.start = loop.start;
    StepRecord& row = step.row;
    row.epoch = loop.epoch;
    row.elapsed_s = loop.elapsed_s;
    row.clock_s = loop.clock_s;
    row.data_ms = static_cast<float>(loop.data_s * 1e3);
    row.step_ms = static_cast<float>(loop.step_s * 1e3);
    row.samples_per_s = static_cast<float>(static_cast<double>(loop.samples) / loop.step_s);
    row.peak_bytes = std::max(row.peak_bytes, loop.peak_before);
    fill_machine(row, loop.machine);
}

}  // namespace engine
