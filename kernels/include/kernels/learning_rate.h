#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/host_device.h"

namespace kernels {

enum class ScheduleKind : std::int32_t {
    constant,
    cosine,
    step,
    one_cycle,
    polynomial,
    plateau,
    multi_step,
};

/// The most drops of multi_step.
inline constexpr int max_milestones = 16;

/// Learning rate as a function of the applied updates, by PyTorch's formulas. Fields of other kinds
/// are ignored.
///
/// The first `warmup` updates rise linearly: update k (from 0) has (k + 1) / (warmup + 1) of the
/// schedule's first rate. That is PyTorch's LinearLR(start_factor = 1 / (warmup + 1), total_iters =
/// warmup) before the schedule in a SequentialLR. The schedule covers the remaining `planned` -
/// `warmup` updates. The milestones of multi_step count from the first update, warm-up included:
/// PyTorch's ChainedScheduler of LinearLR and MultiStepLR.
struct LearningRateSchedule {
    double base = 0;  ///< one_cycle: the largest rate
    ScheduleKind kind = ScheduleKind::constant;
    std::int64_t planned = 0;  ///< updates of the run; 0: unknown, and the rate stays at its start
    std::int64_t warmup = 0;   ///< updates
    std::int64_t step_size = 1;  ///< step: updates between two drops
    double gamma = 1;            ///< step, multi_step: what each drop multiplies the rate by
    double power = 1;            ///< polynomial
    std::int64_t milestones[max_milestones] = {};  ///< multi_step: updates before each drop, rising
    std::int32_t milestone_count = 0;

    // The earlier schedule of a run that was given more updates after its schedule had been
    // planned; first_end 0: none.
    std::int64_t first_begin = 0;     ///< updates before the earlier schedule
    std::int64_t first_end = 0;       ///< updates at its end
    std::int64_t first_planned = 0;   ///< updates that it was planned for
    std::int64_t planned_before = 0;  ///< of the run, up to its end
    bool holds = false;               ///< its last rate stays; else the schedule begins anew
};

/// One stretch of one_cycle: from `from` to `to` along half a cosine (Smith & Topin 2018).
HALFTONE_HOST_DEVICE inline double cosine_between(double from, double to, double part) {
    constexpr double pi = 3.141592653589793;
    return to + (from - to) / 2 * (std::cos(pi * part) + 1);
}

/// OneCycleLR with its defaults: up from 1/25 of the largest rate over the first 30 % of the
/// updates, then down to 1/250,000 of it. The last of `total` updates has the smallest rate.
HALFTONE_HOST_DEVICE inline double one_cycle_rate(double largest, std::int64_t update,
                                                  std::int64_t total) {
    const double first = largest / 25, last = first / 1e4;
    if (total <= 0) return first;
    const double peak = 0.3 * static_cast<double>(total) - 1;
    const double end = static_cast<double>(total) - 1;
    const double at = static_cast<double>(update);
    if (at >= end) return last;
    if (at <= peak) return cosine_between(first, largest, peak > 0 ? at / peak : 1);
    return cosine_between(largest, last, (at - peak) / (end - peak));
}

/// The rate of the schedule alone, without warm-up, for the update after `update` of `total`.
HALFTONE_HOST_DEVICE inline double scheduled_rate(const LearningRateSchedule& schedule,
                                                  std::int64_t update, std::int64_t total) {
    if (schedule.kind == ScheduleKind::one_cycle)
        return one_cycle_rate(schedule.base, update, total);
    if (schedule.kind == ScheduleKind::step) {
        return schedule.base *
               std::pow(schedule.gamma, static_cast<double>(update / schedule.step_size));
    }
    if (schedule.kind == ScheduleKind::multi_step) {
        int drops = 0;
        while (drops < schedule.milestone_count && schedule.milestones[drops] <= update) ++drops;
        return schedule.base * std::pow(schedule.gamma, static_cast<double>(drops));
    }
    const bool falls =
        schedule.kind == ScheduleKind::cosine || schedule.kind == ScheduleKind::polynomial;
    if (!falls || total <= 0) return schedule.base;
    const double done = static_cast<double>(update) / static_cast<double>(total);
    const double part = done < 1 ? done : 1;
    if (schedule.kind == ScheduleKind::cosine) return cosine_between(schedule.base, 0, part);
    return schedule.base * std::pow(1 - part, schedule.power);
}

/// learning_rate() of one schedule over all updates.
HALFTONE_HOST_DEVICE inline double single_learning_rate(const LearningRateSchedule& schedule,
                                                        std::int64_t updates,
                                                        std::int64_t planned) {
    const std::int64_t total = planned - schedule.warmup;
    const std::int64_t before =
        schedule.kind == ScheduleKind::multi_step ? 0 : schedule.warmup;  // the schedule begins
    if (updates >= schedule.warmup) return scheduled_rate(schedule, updates - before, total);
    return scheduled_rate(schedule, before == 0 ? updates : 0, total) *
           static_cast<double>(updates + 1) / static_cast<double>(schedule.warmup + 1);
}

/// The rate for the update after `updates` applied ones.
///   constant, plateau  base
///   cosine      base / 2 * (1 + cos(pi * updates / planned)), down to 0 (Loshchilov & Hutter 2017)
///   step        base * gamma ^ floor(updates / step_size)
///   one_cycle   one_cycle_rate()
///   polynomial  base * (1 - updates / planned) ^ power
///   multi_step  base * gamma ^ (number of milestones <= updates)
HALFTONE_HOST_DEVICE inline double learning_rate(const LearningRateSchedule& schedule,
                                                 std::int64_t updates) {
    if (schedule.first_end == 0) return single_learning_rate(schedule, updates, schedule.planned);
    if (updates >= schedule.first_end && !schedule.holds)
        return single_learning_rate(schedule, updates - schedule.first_end,
                                    schedule.planned - schedule.planned_before);
    const std::int64_t last = schedule.first_end - 1;
    const std::int64_t at = (updates < last ? updates : last) - schedule.first_begin;
    return single_learning_rate(schedule, at > 0 ? at : 0, schedule.first_planned);
}

}  // namespace kernels
