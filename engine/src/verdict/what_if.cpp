#include "engine/verdict/what_if.h"

#include <algorithm>
#include <cmath>

#include "amp/scale_rule.h"
#include "engine/base/error.h"
#include "verdict/recorded_steps.h"

namespace engine {
namespace {

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

}  // namespace

WhatIf replay(const ReplayedRecord& record, const ScalePolicy& policy) {
    Replay replay(policy);
    RecordedSteps steps(record);
    while (const RecordedStep* step = steps.next()) replay.see(*step, steps.ceiling_ahead());
    return replay.finish();
}

}  // namespace engine
