#include "series/x_axis.h"

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr std::int64_t maxExact = 16384;  // rows: reading them takes a fraction of a millisecond

}  // namespace

RowAxis::RowAxis(Source source, std::size_t most) : source_(std::move(source)), most_(most) {}

void RowAxis::values(XKind kind, std::int64_t first, std::span<double> out) const {
    source_(kind, first, out);
    if (kind != XKind::clock) return;
    for (double& value : out) value = std::max(0.0, value - start_);  // 0 for NaN, too
}

/// The first step began before its end, which is what its row has.
void RowAxis::findStart() {
    double clock = 0, seconds = 0;
    source_(XKind::clock, 0, std::span(&clock, 1));
    source_(XKind::time, 0, std::span(&seconds, 1));
    hasClock_ = clock > 0;
    start_ = clock - seconds;
}

RowAxis::Mark RowAxis::read(std::int64_t row) const {
    Mark mark;
    values(XKind::update, row, std::span(&mark.updates, 1));
    values(XKind::sample, row, std::span(&mark.samples, 1));
    values(XKind::time, row, std::span(&mark.seconds, 1));
    values(XKind::clock, row, std::span(&mark.clock, 1));
    return mark;
}

void RowAxis::grow(std::int64_t rows) {
    if (rows <= rows_) return;
    if (rows_ == 0) findStart();
    rows_ = rows;
    last_ = read(rows - 1);
    while (std::ssize(marks_) * stride_ <= rows) {
        marks_.push_back(read(std::ssize(marks_) * stride_ - 1));
        if (marks_.size() < most_) continue;
        for (std::size_t i = 0; 2 * i < marks_.size(); ++i) marks_[i] = marks_[2 * i];
        marks_.resize((marks_.size() + 1) / 2);
        stride_ *= 2;
    }
}

double RowAxis::of(const Mark& mark, XKind kind) {
    if (kind == XKind::update) return mark.updates;
    if (kind == XKind::sample) return mark.samples;
    return kind == XKind::time ? mark.seconds : mark.clock;
}

double RowAxis::scale(XKind kind) const {
    return kind == XKind::epoch && stepsPerEpoch_ > 0 ? 1 / stepsPerEpoch_ : 1;
}

double RowAxis::end(XKind kind) const { return of(last_, kind); }

double RowAxis::between(XKind kind, double step) const {
    const auto count = static_cast<double>(rows_);
    if (step >= count) return end(kind) * step / count;
    const auto k = static_cast<std::size_t>(step) / static_cast<std::size_t>(stride_);
    const double from = static_cast<double>(k) * static_cast<double>(stride_);
    const bool inner = k + 1 < marks_.size();
    const double to = inner ? from + static_cast<double>(stride_) : count;
    const double a = of(marks_[k], kind);
    const double b = inner ? of(marks_[k + 1], kind) : end(kind);
    return a + (b - a) * (step - from) / (to - from);
}

std::vector<double> RowAxis::steps(XKind kind, std::int64_t first, std::int64_t last) const {
    std::vector<double> all(static_cast<std::size_t>(last - first + 1), 0.0);
    std::span<double> out = all;
    if (first == 0) out = out.subspan(1);
    if (!out.empty()) values(kind, std::max<std::int64_t>(0, first - 1), out);
    return all;
}

double RowAxis::at(XKind kind, double step) const {
    step = std::max(0.0, step);
    if (kind == XKind::step || kind == XKind::epoch || rows_ == 0) return step * scale(kind);
    if (step >= static_cast<double>(rows_)) return between(kind, step);
    const auto below = static_cast<std::int64_t>(step);
    const auto pair = steps(kind, below, below + 1);
    return pair[0] + (pair[1] - pair[0]) * (step - static_cast<double>(below));
}

double RowAxis::stepAt(XKind kind, double x) const {
    if (kind == XKind::step || kind == XKind::epoch || rows_ == 0) return x / scale(kind);
    if (x <= 0) return 0;
    const double last = end(kind);
    if (x > last) return last > 0 ? static_cast<double>(rows_) * x / last : 0;
    // Finds the mark before, then searches the rows after it.
    const auto mark = std::lower_bound(marks_.begin(), marks_.end(), x,
                                       [kind](const Mark& m, double v) { return of(m, kind) < v; });
    const std::int64_t from = std::max<std::int64_t>(0, mark - marks_.begin() - 1) * stride_;
    const auto rows = steps(kind, from, std::min(rows_, from + stride_));
    const auto reached = std::lower_bound(rows.begin(), rows.end(), x) - rows.begin();
    if (reached == std::ssize(rows)) return static_cast<double>(from + reached - 1);
    if (reached == 0) return static_cast<double>(from);
    const double a = rows[static_cast<std::size_t>(reached - 1)];
    const double b = rows[static_cast<std::size_t>(reached)];
    return static_cast<double>(from + reached - 1) + (x - a) / (b - a);
}

void RowAxis::map(XKind kind, QVector<double>& all) const {
    if (kind == XKind::step || all.isEmpty()) return;
    if (kind == XKind::epoch || rows_ == 0) {
        for (double& step : all) step *= scale(kind);
        return;
    }
    const auto first = std::clamp<std::int64_t>(static_cast<std::int64_t>(all.front()), 0, rows_);
    const auto last =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(all.back())), first, rows_);
    if (last - first > maxExact) {
        for (double& step : all) step = between(kind, std::max(0.0, step));
        return;
    }
    const auto rows = steps(kind, first, last);
    for (double& step : all) {
        if (step >= static_cast<double>(last)) {
            step = step > static_cast<double>(rows_) ? between(kind, step) : rows.back();
            continue;
        }
        const double offset = std::max(0.0, step - static_cast<double>(first));
        const auto below = static_cast<std::size_t>(offset);
        step = rows[below] + (rows[below + 1] - rows[below]) * (offset - std::floor(offset));
    }
}

}  // namespace ui
