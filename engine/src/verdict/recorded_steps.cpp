#include "verdict/recorded_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {
namespace {

constexpr std::int64_t block_rows = 65536;
constexpr double not_recorded = std::numeric_limits<double>::quiet_NaN();
/// scale_ceiling takes the largest value to 65504; up to below 65520 values still round to it.
constexpr double rounding_room = 65520.0 / 65504.0;

}  // namespace

std::optional<bool> overflows(const RecordedStep& step, double scale) {
    if (step.lost_loss) return true;
    if (scale == step.scale) return step.overflowed;
    // An overflow at one scale is also one at every larger scale, and vice versa.
    if (step.overflowed) return scale > step.scale ? std::optional(true) : std::nullopt;
    if (scale < step.scale) return false;
    if (std::isnan(step.ceiling)) return std::nullopt;
    return scale >= step.ceiling * rounding_room;
}

RecordedSteps::RecordedSteps(const ReplayedRecord& of) : of_(of), size_(of.record.size()) {}

const RecordedStep* RecordedSteps::next() {
    if (at_ == block_.size()) read_block();
    return at_ < block_.size() ? &block_[at_++] : nullptr;
}

double RecordedSteps::ceiling_ahead() const {
    return at_ > 0 ? ceilings_ahead_[at_ - 1] : not_recorded;
}

void RecordedSteps::look_ahead() {
    ceilings_ahead_.resize(block_.size());
    double nearest = not_recorded;
    for (std::size_t i = block_.size(); i-- > 0;) {
        if (!block_[i].overflowed && !std::isnan(block_[i].ceiling)) nearest = block_[i].ceiling;
        ceilings_ahead_[i] = nearest;
    }
}

void RecordedSteps::read_block() {
    first_ += static_cast<std::int64_t>(block_.size());
    const auto count = static_cast<std::size_t>(std::min(block_rows, size_ - first_));
    block_.resize(count);
    at_ = 0;
    if (count == 0) return;
    std::vector<double> values(count), others(count);
    const auto read = [&](auto column, auto put) {
        of_.record.column(column, first_, values);
        for (std::size_t i = 0; i < count; ++i) put(block_[i], values[i]);
    };
    read(&StepRecord::loss_scale, [](RecordedStep& s, double v) { s.scale = v; });
    read(&StepRecord::scale_ceiling, [](RecordedStep& s, double v) { s.ceiling = v; });
    read(&StepRecord::found_inf,
         [](RecordedStep& s, double v) { s.overflowed = s.skipped = v != 0; });
    read(&StepRecord::loss, [](RecordedStep& s, double v) { s.lost_loss = !std::isfinite(v); });
    if (!of_.checked) {
        read(&StepRecord::grad_norm,
             [](RecordedStep& s, double v) { s.overflowed = s.lost_loss || !std::isfinite(v); });
    }
    of_.record.column(&StepRecord::grad_zero_share, first_, others);
    read(&StepRecord::f16_zero_share, [](RecordedStep& s, double v) { s.lost_share = v; });
    for (std::size_t i = 0; i < count; ++i) {
        block_[i].lost_loss = block_[i].lost_loss && block_[i].overflowed;
        block_[i].lost_share = std::max(block_[i].lost_share - others[i], 0.0);
        if (std::isnan(values[i]) || std::isnan(others[i])) block_[i].lost_share = not_recorded;
        block_[i].floor = not_recorded;
    }
    look_ahead();
    if (!of_.floors) return;
    of_.floors(first_, values);
    for (std::size_t i = 0; i < count; ++i) block_[i].floor = values[i];
}

}  // namespace engine
