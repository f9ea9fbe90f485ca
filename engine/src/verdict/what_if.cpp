#include "engine/verdict/what_if.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "amp/scale_rule.h"
#include "engine/base/error.h"
#include "engine/settings/catalog.h"

namespace engine {
namespace {

/// One step of the record, with the scales at which it overflows or loses gradients.
struct RecordedStep {
    double scale;       ///< the one used
    double ceiling;     ///< StepRecord::scale_ceiling; NaN: unknown
    double floor;       ///< NaN: unknown
    double lost_share;  ///< of gradients that became zero though they were not; NaN: unknown
    bool skipped;       ///< found_inf
    bool overflowed;    ///< its gradients were not finite, whether it was skipped or not
    bool lost_loss;     ///< and so was its loss, which no scale mends
};

/// Reads a record from its first row to its last, a block at a time.
class RecordedSteps {
public:
    explicit RecordedSteps(const ReplayedRecord& of);
    /// The next step, or nothing after the last one that was there when this was made.
    const RecordedStep* next();
    /// The ceiling of the nearest step within the block, from the current one on, whose ceiling is
    /// known; NaN without one.
    double ceiling_ahead() const;

private:
    void read_block();
    void look_ahead();

    const ReplayedRecord& of_;
    std::int64_t size_;
    std::int64_t first_ = 0;  // row of the block's first step
    std::size_t at_ = 0;      // in the block, of the next step
    std::vector<RecordedStep> block_;
    std::vector<double> ceilings_ahead_;  // of the block
};

constexpr std::int64_t block_rows = 65536;
constexpr double not_recorded = std::numeric_limits<double>::quiet_NaN();
/// scale_ceiling takes the largest value to 65504; up to below 65520 values still round to it.
constexpr double rounding_room = 65520.0 / 65504.0;

/// Whether the gradients of the step overflow at a scale; nothing where the record cannot know.
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

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Throws Error(value) for numbers that no run takes.
ScaleRule rule_of(const ScalePolicy& policy) {
    RunConfig config;
    config.scaler = policy.scaler;
    for (const SettingError& error : validate(config)) {
        if (error.field.starts_with("scaler.")) throw Error(ErrorCode::value, error.str());
    }
    const ScalerConfig& s = policy.scaler;
    return ScaleRule({.init_scale = policy.mode == ScalerMode::off ? 1 : s.init_scale,
                      .growth_factor = s.growth_factor,
                      .backoff_factor = s.backoff_factor,
                      .growth_interval = s.growth_interval,
                      .enabled = true,
                      .min_scale = s.min_scale,
                      .max_scale = s.max_scale,
                      .hysteresis = static_cast<int>(s.hysteresis),
                      .overflow_resets = true});
}

/// Mean bounds of the share that becomes zero.
class LostShare {
public:
    void see(const RecordedStep& step, double scale) {
        if (std::isnan(step.lost_share)) return;
        ++measured_;
        // A smaller scale takes at least as many values to zero, a larger one at most as many.
        if (scale <= step.scale) least_ += step.lost_share;
        if (scale >= step.scale)
            most_ += step.lost_share;
        else
            bounded_ = false;
    }
    double at_least() const { return measured_ > 0 ? least_ / measured() : unknown; }
    double at_most() const { return measured_ > 0 && bounded_ ? most_ / measured() : unknown; }

private:
    double measured() const { return static_cast<double>(measured_); }

    std::int64_t measured_ = 0;
    double least_ = 0, most_ = 0;
    bool bounded_ = true;
};

class Replay {
public:
    explicit Replay(const ScalePolicy& policy)
        : rule_(rule_of(policy)), moves_(policy.mode == ScalerMode::dynamic) {
        out_.policy = policy;
    }

    void see(const RecordedStep& step, double ceiling_ahead) {
        const float scale = rule_.loss_scale();
        const auto used = static_cast<double>(scale);
        const ReplayedStep outcome = outcome_of(step, used, ceiling_ahead);
        if (!step.overflowed && !std::isnan(step.ceiling)) ceiling_ = step.ceiling;
        append(scale, outcome);
        count(step, used, outcome);
        const bool skips =
            outcome == ReplayedStep::skipped || outcome == ReplayedStep::unknown_skipped;
        if (moves_) rule_.update(skips);
    }

    WhatIf finish() {
        out_.lost_at_least = lost_.at_least();
        out_.lost_at_most = lost_.at_most();
        return std::move(out_);
    }

private:
    ReplayedStep outcome_of(const RecordedStep& step, double scale, double ceiling_ahead) const {
        const std::optional<bool> overflow = overflows(step, scale);
        if (overflow && !*overflow) return ReplayedStep::applied;
        if (!moves_) return overflow ? ReplayedStep::broken : ReplayedStep::unknown_applied;
        if (overflow) return ReplayedStep::skipped;
        const double ceiling = std::isnan(ceiling_ahead) ? ceiling_ : ceiling_ahead;
        return scale > ceiling ? ReplayedStep::unknown_skipped : ReplayedStep::unknown_applied;
    }

    void append(float scale, ReplayedStep outcome) {
        ++out_.steps;
        auto& stairs = out_.stairs;
        if (!stairs.empty() && stairs.back().scale == scale && stairs.back().outcome == outcome)
            ++stairs.back().steps;
        else
            stairs.push_back({out_.steps, 1, scale, outcome});
    }

    void count(const RecordedStep& step, double scale, ReplayedStep outcome) {
        const bool skips =
            outcome == ReplayedStep::skipped || outcome == ReplayedStep::unknown_skipped;
        if (skips) ++out_.skipped;
        if (is_unknown(outcome)) ++out_.unknown;
        if (out_.breaks_at == 0 && outcome == ReplayedStep::broken) out_.breaks_at = out_.steps;
        if (out_.parts_at == 0 && skips != step.skipped) out_.parts_at = out_.steps;
        const auto narrow = static_cast<float>(scale);
        out_.lowest = out_.steps == 1 ? narrow : std::min(out_.lowest, narrow);
        out_.highest = std::max(out_.highest, narrow);
        out_.last = narrow;
        if (!std::isnan(step.floor)) {
            ++out_.floors;
            if (scale < step.floor) ++out_.below_floor;
        }
        lost_.see(step, scale);
    }

    ScaleRule rule_;
    bool moves_;
    WhatIf out_;
    LostShare lost_;
    double ceiling_ = unknown;  // of the nearest step before that knows its own
};

ScalePolicy constant(std::string name, double scale) {
    ScalerConfig scaler;
    scaler.init_scale = scale;
    return {std::move(name), ScalerMode::constant, scaler};
}

}  // namespace

WhatIf replay(const ReplayedRecord& record, const ScalePolicy& policy) {
    Replay replay(policy);
    RecordedSteps steps(record);
    while (const RecordedStep* step = steps.next()) replay.see(*step, steps.ceiling_ahead());
    return replay.finish();
}

ScalePolicy to_policy(const RunConfig& config, std::string name) {
    return {std::move(name), resolve(config.precision).scaler, config.scaler};
}

std::vector<ScalePolicy> usual_policies() {
    std::vector<ScalePolicy> out;
    for (const auto& info : scaler_presets())
        out.push_back({info.kind, ScalerMode::dynamic, info.settings});
    ScalerConfig patient;
    patient.hysteresis = 2;
    out.push_back({"hysteresis-2", ScalerMode::dynamic, patient});
    ScalerConfig high;
    high.init_scale = 0x1p24;
    out.push_back({"init-2^24", ScalerMode::dynamic, high});
    out.push_back(constant("static-1024", 1024));
    out.push_back(constant("static-65536", 65536));
    out.push_back({"none", ScalerMode::off, {}});
    return out;
}

}  // namespace engine
