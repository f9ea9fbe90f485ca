#include "verdict/run_pay_off.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"
#include "record/median.h"
#include "verdict/speed_gap.h"

namespace engine {
namespace {

/// A smaller speed-up is not noticeable.
constexpr double least_speed_up = 1.05;
/// If data or optimizer take this share of the step, faster passes gain little.
constexpr double large_share = 0.35;

/// Typical milliseconds of the parts of a step.
struct StepTimes {
    double step, data, forward, backward, optimizer;

    double passes() const { return forward + backward; }
    /// Whether the record has the parts. Records of other programs, and of steps replayed as a GPU
    /// graph, have none.
    bool known() const { return data >= 0 && passes() > 0 && optimizer >= 0; }
};

double typical(const RunFigures& run, float StepRecord::*part) {
    const std::int64_t begin = run.speed.first_step - 1;
    const std::int64_t end = std::min(run.speed.last_step, run.record.size());
    if (begin < 0 || begin >= end) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> values(static_cast<std::size_t>(end - begin));
    run.record.column(part, begin, values);
    return interquartile_mean(std::move(values));
}

StepTimes times_of(const RunFigures& run) {
    return {run.speed.step_ms, typical(run, &StepRecord::data_ms),
            typical(run, &StepRecord::forward_ms), typical(run, &StepRecord::backward_ms),
            typical(run, &StepRecord::optimizer_ms)};
}

const PrecisionInfo* info_of(const RunFigures& run) {
    for (const auto& info : precisions()) {
        if (info.preset == run.precision) return &info;
    }
    return nullptr;
}

bool computes_in_16_bits(const RunFigures& run) {
    const PrecisionInfo* info = info_of(run);
    return info != nullptr && (info->settings.autocast != AutocastFormat::off ||
                               info->settings.weights == WeightFormat::fp16);
}

std::string run_title(const RunFigures& run) {
    if (!run.title.empty()) return run.title;
    const PrecisionInfo* info = info_of(run);
    return info != nullptr ? info->title : run.precision;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)); }

Message pays(const std::string& name, const StepTimes& fp32, const StepTimes& mixed) {
    if (!fp32.known() || !mixed.known())
        return msg("{} pays off: a step takes {} ms instead of {} ms.", name,
                   figure_text(mixed.step), figure_text(fp32.step));
    return msg(
        "{} pays off: forward and backward pass take {} ms instead of {} ms, and the whole step {} "
        "ms instead of {} ms.",
        name, figure_text(mixed.passes()), figure_text(fp32.passes()), figure_text(mixed.step),
        figure_text(fp32.step));
}

/// Gives the reason without a ratio, which stands in the verdict's cost.
RunPayOff does_not_pay(const std::string& name, const StepTimes& fp32, const StepTimes& mixed) {
    if (!fp32.known() || !mixed.known())
        return {msg("{} does not pay off: it is no faster than FP32.", name), false, {}};
    if (mixed.data >= large_share * mixed.step)
        return {msg("{} does not pay off: {} % of its step is spent waiting for data, which no "
                    "precision makes faster.",
                    name, percent(mixed.data / mixed.step)),
                true,
                {}};
    if (mixed.optimizer >= large_share * mixed.step && mixed.optimizer >= mixed.passes())
        return {msg("{} does not pay off: the optimizer is {} % of the step, and keeps FP32 "
                    "weights in every precision. A larger batch helps.",
                    name, percent(mixed.optimizer / mixed.step)),
                true,
                {}};
    return {msg("{} does not pay off: forward and backward pass take {} ms instead of {} ms.", name,
                figure_text(mixed.passes()), figure_text(fp32.passes())),
            false,
            {}};
}

Message parts_evidence(const StepTimes& fp32, const StepTimes& mixed) {
    if (!fp32.known() || !mixed.known()) return {};
    return msg(
        "A step in ms, against FP32: data {} and {}, forward {} and {}, backward {} and {}, "
        "optimizer {} and {}.",
        figure_text(mixed.data), figure_text(fp32.data), figure_text(mixed.forward),
        figure_text(fp32.forward), figure_text(mixed.backward), figure_text(fp32.backward),
        figure_text(mixed.optimizer), figure_text(fp32.optimizer));
}

}  // namespace

RunPayOff run_pay_off(const RunFigures& baseline, const RunFigures& other) {
    const bool is_pair = baseline.precision == "fp32" && computes_in_16_bits(other) &&
                         baseline.device == other.device;
    if (!is_pair || !baseline.speed.known() || !other.speed.known()) return {};
    const SpeedGap gap = speed_gap(baseline, other);
    if (!gap.has_interval()) return {};
    const StepTimes fp32 = times_of(baseline), mixed = times_of(other);
    const std::string name = run_title(other);
    RunPayOff out;
    if (gap.ratio < least_speed_up) {
        out = does_not_pay(name, fp32, mixed);
    } else if (gap.clear() && gap.claim() >= least_speed_up) {
        out.sentence = pays(name, fp32, mixed);
    } else if (gap.low > 1) {
        out.sentence = msg(
            "It is not known whether {} pays off: its fastest steps are {} times as fast as FP32's, "
            "the rest of the difference may be other load on this machine.",
            name, figure_text(gap.quiet_ratio));
    } else {
        out.sentence =
            msg("Too early to say whether {} pays off: it trains {} to {} times as fast as FP32 "
                "(95 % interval).",
                name, figure_text(gap.low), figure_text(gap.high));
    }
    out.evidence = parts_evidence(fp32, mixed);
    return out;
}

}  // namespace engine
