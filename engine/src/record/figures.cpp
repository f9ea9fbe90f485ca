#include "engine/record/figures.h"

#include <algorithm>
#include <cmath>

namespace engine {
namespace {

constexpr double no_figure = KeyFigures::unknown;

/// A resumed run goes back by at most a few of them.
constexpr std::size_t max_evaluations = 256;

template <typename List>
void drop_after(List& list, std::int64_t step) {
    while (!list.empty() && list.back().step > step) list.pop_back();
}

/// A program that does not measure a figure writes 0.
double if_measured(double value) { return value > 0 ? value : no_figure; }

}  // namespace

void FigureEvents::apply(const Event& event) {
    if (const auto* epoch = std::get_if<EpochDone>(&event)) {
        if (!epoch->evaluated) return;
        evaluations_.push_back({epoch->step, epoch->validation, epoch->test});
        if (evaluations_.size() > max_evaluations) evaluations_.pop_front();
    } else if (const auto* scale = std::get_if<ScaleChanged>(&event)) {
        scales_.push_back({scale->step, scale->to, scale->kind == ScaleChanged::Kind::grown});
    } else if (const auto* resumed = std::get_if<RunResumed>(&event)) {
        drop_after(scales_, resumed->step);
        drop_after(evaluations_, resumed->step);
        resumed_at_.push_back(resumed->step);
    }
}

double loss_last_20(const FigureRows& record, std::int64_t step) {
    const std::int64_t end = std::min(step, record.size);
    const std::int64_t first = std::max<std::int64_t>(0, end - loss_window);
    if (end <= 0) return no_figure;
    const double last = static_cast<double>(record.row(end - 1).loss);
    if (!std::isfinite(last)) return last;
    double sum = 0, count = 0;
    for (std::int64_t row = first; row < end; ++row) {
        const double loss = static_cast<double>(record.row(row).loss);
        if (!std::isfinite(loss)) continue;
        sum += loss;
        ++count;
    }
    return sum / count;
}

double scale_after(const FigureRows& record, const FigureEvents& events, std::int64_t step) {
    if (step < 1 || step > record.size) return no_figure;
    if (step < record.size) return static_cast<double>(record.row(step).loss_scale);
    const auto& all = events.scales_;
    const auto at = std::lower_bound(all.begin(), all.end(), step,
                                     [](const FigureEvents::ScaleStep& each, std::int64_t wanted) {
                                         return each.step < wanted;
                                     });
    const bool changed = at != all.end() && at->step == step;
    return static_cast<double>(changed ? at->to : record.row(step - 1).loss_scale);
}

KeyFigures key_figures(const FigureRows& record, const FigureEvents& events) {
    KeyFigures out;
    if (!events.evaluations_.empty()) {
        const auto& last = events.evaluations_.back();
        out.validation = last.validation;
        out.test = last.test;
        out.evaluated_at = last.step;
    }
    const std::int64_t rows = record.size;
    if (rows == 0) return out;
    const StepRecord last = record.row(rows - 1);
    out.steps = last.step;
    out.updates = last.updates;
    out.skipped = last.step - last.updates;
    out.samples = last.samples;
    out.epochs = last.epoch;
    out.loss = static_cast<double>(last.loss);
    out.loss_last_20 = loss_last_20(record, rows);
    out.loss_scale = static_cast<double>(last.loss_scale);
    out.scale_now = scale_after(record, events, rows);
    out.headroom_bits = std::log2(static_cast<double>(last.scale_ceiling) / out.scale_now);
    if (!std::isfinite(out.headroom_bits)) out.headroom_bits = no_figure;
    out.growths = std::count_if(events.scales_.begin(), events.scales_.end(),
                                [](const auto& scale) { return scale.grown; });
    out.train_s = if_measured(last.elapsed_s);
    out.step_ms = 1e3 * out.train_s / static_cast<double>(rows);
    out.samples_per_s = if_measured(static_cast<double>(last.samples)) / out.train_s;
    out.peak_bytes = last.peak_bytes;
    out.card_joules = last.card_joules;
    out.cpu_joules = last.cpu_joules;
    // Earlier versions began the column anew when a run was resumed.
    for (const std::int64_t part : events.resumed_at_) {
        if (part >= 1 && part <= rows)
            out.peak_bytes = std::max(out.peak_bytes, record.row(part - 1).peak_bytes);
    }
    return out;
}

}  // namespace engine
