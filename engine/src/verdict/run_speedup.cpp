#include "verdict/run_speedup.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"
#include "record/median.h"

namespace engine {
namespace {

constexpr std::size_t max_blocks = 16;
constexpr double tail = 0.025;  // on each side of a 95 % interval

/// Step times of both runs over the same steps, without steps that one of them did not time.
struct PairedTimes {
    std::vector<double> baseline, other;
};

std::vector<double> step_times(const RunFigures& run, std::int64_t begin, std::int64_t end) {
    std::vector<double> times(static_cast<std::size_t>(end - begin));
    run.record.column(&StepRecord::step_ms, begin, times);
    return times;
}

PairedTimes paired_times(const RunFigures& baseline, const RunFigures& other) {
    if (!ran_in_turns(baseline, other)) return {};
    const std::int64_t begin = std::max({baseline.speed.first_step, other.speed.first_step,
                                         baseline.in_turns_from, other.in_turns_from}) -
                               1;
    const std::int64_t end = std::min({baseline.speed.last_step, other.speed.last_step,
                                       baseline.record.size(), other.record.size()});
    PairedTimes pairs;
    if (begin < 0 || begin >= end) return pairs;
    const auto a = step_times(baseline, begin, end), b = step_times(other, begin, end);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!std::isfinite(a[i]) || !std::isfinite(b[i]) || a[i] <= 0 || b[i] <= 0) continue;
        pairs.baseline.push_back(a[i]);
        pairs.other.push_back(b[i]);
    }
    return pairs;
}

double typical_time(const std::vector<double>& values, std::size_t begin, std::size_t end) {
    const auto first = values.begin();
    return median(
        {first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end)});
}

/// One ratio a block, ascending. The blocks differ by two steps at most.
std::vector<double> block_ratios(const PairedTimes& pairs) {
    const std::size_t twos = pairs.other.size() / 2;
    const std::size_t blocks = std::min(max_blocks, twos);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < blocks; ++i) {
        const std::size_t begin = i * twos / blocks * 2, end = (i + 1) * twos / blocks * 2;
        ratios.push_back(typical_time(pairs.baseline, begin, end) /
                         typical_time(pairs.other, begin, end));
    }
    std::ranges::sort(ratios);
    return ratios;
}

/// The mean of the fastest tenth.
double quiet_time(std::vector<double> times) {
    const std::size_t tenth = std::max<std::size_t>(1, times.size() / 10);
    const auto end = times.begin() + static_cast<std::ptrdiff_t>(tenth);
    std::ranges::nth_element(times, end - 1);
    return std::accumulate(times.begin(), end, 0.0) / static_cast<double>(tenth);
}

/// The largest r for which P(Binomial(n, 1/2) < r) <= tail; 0: there is none.
std::size_t interval_rank(std::size_t n) {
    double probability = std::pow(0.5, static_cast<double>(n));  // of exactly r
    double below = 0;
    for (std::size_t r = 0; r <= n; ++r) {
        below += probability;
        if (below > tail) return r;
        probability *= static_cast<double>(n - r) / static_cast<double>(r + 1);
    }
    return 0;
}

/// A smaller speed-up is not noticeable.
constexpr double min_speed_up = 1.05;
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

StepTimes read_step_times(const RunFigures& run) {
    return {run.speed.step_ms, typical(run, &StepRecord::data_ms),
            typical(run, &StepRecord::forward_ms), typical(run, &StepRecord::backward_ms),
            typical(run, &StepRecord::optimizer_ms)};
}

bool computes_in_16_bits(const RunFigures& run) {
    const PrecisionDescriptor* preset = find_kind(precisions(), run.precision);
    // A recipe is emulated, so its speed says nothing about a card's.
    return preset != nullptr && preset->settings.computes_in_16_bits() &&
           preset->settings.recipe == RecipeKind::none;
}

std::string run_title(const RunFigures& run) {
    return run.title.empty() ? title_of(precisions(), run.precision) : run.title;
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
RunSpeedup does_not_pay(const std::string& name, const StepTimes& fp32, const StepTimes& mixed) {
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

double SpeedGap::claim() const {
    if (narrow()) return ratio;
    return low > 1 ? std::min(low, quiet_ratio) : std::max(high, quiet_ratio);
}

bool ran_in_turns(const RunFigures& baseline, const RunFigures& other) {
    return !baseline.turns.empty() && baseline.turns == other.turns;
}

SpeedGap speed_gap(const RunFigures& baseline, const RunFigures& other) {
    const PairedTimes pairs = paired_times(baseline, other);
    const auto ratios = block_ratios(pairs);
    SpeedGap gap;
    if (ratios.empty()) return gap;
    gap.ratio = median(ratios);
    gap.blocks = static_cast<std::int64_t>(ratios.size());
    gap.quiet_ratio = quiet_time(pairs.baseline) / quiet_time(pairs.other);
    if (const std::size_t rank = interval_rank(ratios.size()); rank > 0) {
        gap.low = ratios[rank - 1];
        gap.high = ratios[ratios.size() - rank];
    }
    return gap;
}

RunSpeedup run_speedup(const RunFigures& baseline, const RunFigures& other) {
    const bool is_pair = baseline.precision == baseline_precision() && computes_in_16_bits(other) &&
                         baseline.device == other.device;
    if (!is_pair || !baseline.speed.known() || !other.speed.known()) return {};
    const SpeedGap gap = speed_gap(baseline, other);
    if (!gap.has_interval()) return {};
    const StepTimes fp32 = read_step_times(baseline), mixed = read_step_times(other);
    const std::string name = run_title(other);
    RunSpeedup out;
    if (gap.ratio < min_speed_up) {
        out = does_not_pay(name, fp32, mixed);
    } else if (gap.clear() && gap.claim() >= min_speed_up) {
        out.sentence = pays(name, fp32, mixed);
    } else if (gap.low > 1) {
        out.sentence =
            msg("It is not known whether {} pays off: its fastest steps are {} times as fast as "
                "FP32's, "
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
