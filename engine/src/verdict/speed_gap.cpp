#include "verdict/speed_gap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "record/median.h"

namespace engine {
namespace {

constexpr std::size_t most_blocks = 16;
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
    const std::size_t blocks = std::min(most_blocks, twos);
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

}  // namespace engine
