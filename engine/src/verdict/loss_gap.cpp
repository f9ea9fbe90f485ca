#include "verdict/loss_gap.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace engine {
namespace {

constexpr std::int64_t max_windows = 64;
constexpr std::int64_t max_window = 32;
constexpr std::int64_t min_window = 8;

/// Running mean and variance (Welford; merged as Chan et al.).
struct Moments {
    std::int64_t count = 0;
    double mean = 0;
    double squares = 0;

    void add(double value) {
        ++count;
        const double from_old = value - mean;
        mean += from_old / static_cast<double>(count);
        squares += from_old * (value - mean);
    }
    void merge(const Moments& other) {
        if (other.count == 0) return;
        const double n = static_cast<double>(count), m = static_cast<double>(other.count);
        const double between = other.mean - mean;
        count += other.count;
        mean += between * m / (n + m);
        squares += other.squares + between * between * n * m / (n + m);
    }
    double deviation() const {
        return count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
    }
};

struct Window {
    Moments gap;
    Moments level;
};

bool stands_out(const Window& window) {
    const double size = std::abs(window.gap.mean);
    return window.gap.count > 0 && size > 2 * window.gap.deviation() &&
           size > 0.02 * std::abs(window.level.mean);
}

/// The losses of two runs, side by side.
class Pair {
public:
    Pair(const StepRecordReader& baseline, const StepRecordReader& other, std::int64_t first_row)
        : baseline_(baseline),
          other_(other),
          first_(first_row),
          steps_(std::max<std::int64_t>(0, std::min(baseline.size(), other.size()) - first_row)) {
        width_ = std::clamp(steps_ / 16, min_window, max_window);
        width_ = std::min(width_, steps_);
        count_ = width_ == 0 ? 0 : std::min(max_windows, steps_ / width_);
    }

    std::int64_t steps() const { return steps_; }
    std::int64_t windows() const { return count_; }

    /// First row of window i: the first window begins at the first row and the last one ends the
    /// record.
    std::int64_t start(std::int64_t i) const {
        const std::int64_t span = steps_ - width_;
        return first_ + (count_ < 2 ? span : i * span / (count_ - 1));
    }

    Window window(std::int64_t first) {
        read(first);
        Window result;
        for (std::size_t i = 0; i < a_.size(); ++i) {
            if (!std::isfinite(a_[i]) || !std::isfinite(b_[i])) continue;
            result.gap.add(b_[i] - a_[i]);
            result.level.add(a_[i]);
        }
        return result;
    }

    /// Row in the window from `first` on at which the difference reaches half of its mean.
    std::int64_t onset(std::int64_t first) {
        const Window whole = window(first);
        for (std::size_t i = 0; i < a_.size(); ++i) {
            const double part = (b_[i] - a_[i]) / whole.gap.mean;
            if (part >= 0.5) return first + static_cast<std::int64_t>(i);
        }
        return first;
    }

private:
    void read(std::int64_t first) {
        a_.resize(static_cast<std::size_t>(width_));
        b_.resize(a_.size());
        baseline_.column(&StepRecord::loss, first, a_);
        other_.column(&StepRecord::loss, first, b_);
    }

    const StepRecordReader& baseline_;
    const StepRecordReader& other_;
    std::int64_t first_;
    std::int64_t steps_;
    std::int64_t width_ = 0;
    std::int64_t count_ = 0;
    std::vector<double> a_, b_;
};

/// Smallest row in (low, high] for which `holds`, given that it does not at low and does at high
/// and changes once between.
template <typename F>
std::int64_t first_where(std::int64_t low, std::int64_t high, F&& holds) {
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (holds(middle) ? high : low) = middle;
    }
    return high;
}

/// The step from which the loss is non-finite to the end of the record; 0: the last one is finite.
/// A broken run does not recover, so bisection finds it.
std::int64_t lost_step(const StepRecordReader& record, std::int64_t first_row) {
    const auto broken = [&record](std::int64_t row) {
        double loss = 0;
        record.column(&StepRecord::loss, row, {&loss, 1});
        return !std::isfinite(loss);
    };
    const std::int64_t rows = record.size();
    if (rows <= first_row || !broken(rows - 1)) return 0;
    return record.row(first_where(first_row - 1, rows - 1, broken)).step;
}

/// Row at which a gap began that holds from window `begin` on.
std::int64_t parting_row(Pair& pair, const std::vector<Window>& windows, std::size_t begin,
                         double gap) {
    const auto apart = [gap](const Window& window) {
        return stands_out(window) && std::signbit(window.gap.mean) == std::signbit(gap);
    };
    while (begin > 0 && apart(windows[begin - 1])) --begin;
    if (begin == 0) return pair.onset(pair.start(0));
    const auto index = static_cast<std::int64_t>(begin);
    return pair.onset(first_where(pair.start(index - 1), pair.start(index),
                                  [&](std::int64_t row) { return apart(pair.window(row)); }));
}

}  // namespace

LossGap loss_gap(const StepRecordReader& baseline, const StepRecordReader& other,
                 std::int64_t first_row) {
    Pair pair(baseline, other, first_row);
    LossGap result;
    result.steps = pair.steps();
    result.baseline_lost = lost_step(baseline, first_row);
    result.other_lost = lost_step(other, first_row);
    std::vector<Window> windows;
    for (std::int64_t i = 0; i < pair.windows(); ++i) windows.push_back(pair.window(pair.start(i)));

    const std::size_t recent = std::max<std::size_t>(3, windows.size() / 4);
    const std::size_t begin = windows.size() - std::min(windows.size(), recent);
    Window all;
    for (std::size_t i = begin; i < windows.size(); ++i) {
        all.gap.merge(windows[i].gap);
        all.level.merge(windows[i].level);
    }
    result.compared = all.gap.count;
    result.gap = all.gap.mean;
    result.noise = 2 * all.gap.deviation();
    result.level = all.level.mean;
    if (result.beyond_noise() && result.large()) {
        result.parted = baseline.row(parting_row(pair, windows, begin, result.gap)).step;
    }
    return result;
}

}  // namespace engine
