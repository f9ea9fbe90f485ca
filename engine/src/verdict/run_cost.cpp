#include "verdict/run_cost.h"

#include <cmath>

#include "engine/base/table.h"
#include "engine/number/figure_text.h"
#include "engine/record/figures.h"
#include "verdict/run_speedup.h"

namespace engine {
namespace {

std::string times_text(double ratio) { return number_text("%.1f", ratio); }

std::int64_t peak_bytes(const StepRecordReader& record) {
    return key_figures(record, {}).peak_bytes;
}

Message faster_words(double ratio) {
    if (ratio >= 2) return msg("{}× as fast", times_text(ratio));
    const long percent = std::lround(100 * (ratio - 1));
    return percent > 0 ? msg("{} % faster", percent) : msg("{} % slower", -percent);
}

Message at_least_faster_words(double ratio) {
    if (ratio >= 2) return msg("at least {}× as fast", times_text(ratio));
    const long percent = std::lround(100 * (ratio - 1));
    return percent > 0 ? msg("at least {} % faster", percent)
                       : msg("at least {} % slower", -percent);
}

Message speed_words(const SpeedGap& gap) {
    if (gap.blocks == 0) return msg("speeds not compared");
    const bool rounds_to_none = std::lround(100 * (gap.claim() - 1)) == 0;
    if (gap.clear() && gap.narrow() && rounds_to_none) return msg("equally fast");
    if (!gap.clear() || rounds_to_none) return msg("no clear difference in speed");
    return gap.narrow() ? faster_words(gap.claim()) : at_least_faster_words(gap.claim());
}

Message memory_words(double ratio) {
    if (ratio >= 2) return msg("{}× the memory", times_text(ratio));
    const long percent = std::lround(100 * (ratio - 1));
    if (percent == 0) return msg("the same memory");
    return percent > 0 ? msg("{} % more memory", percent) : msg("{} % less memory", -percent);
}

/// The speeds themselves: of typical steps that both runs made, unlike those of the cards.
Message speeds_evidence(const RunFigures& baseline, const RunFigures& other) {
    const std::string fast = figure_text(other.speed.samples_per_s);
    const std::string base = figure_text(baseline.speed.samples_per_s);
    const auto first = other.speed.first_step, last = other.speed.last_step;
    if (other.unit == "rows")
        return msg("Typical speed: {} rows/s against {}, over steps {} to {}.", fast, base, first,
                   last);
    if (other.unit == "tokens")
        return msg("Typical speed: {} tokens/s against {}, over steps {} to {}.", fast, base, first,
                   last);
    return msg("Typical speed: {} samples/s against {}, over steps {} to {}.", fast, base, first,
               last);
}

Message not_in_turns() {
    return msg("Their steps were not measured in turns, so their speeds are not compared.");
}

Message interval_evidence(const SpeedGap& gap) {
    if (!gap.has_interval()) return msg("Too few steps to tell a difference in speed from noise.");
    return msg("Speed ratio, step by step: {}, 95 % interval {} to {} ({} blocks of steps).",
               figure_text(gap.ratio), figure_text(gap.low), figure_text(gap.high), gap.blocks);
}

/// Says where the fastest steps limit what can be claimed.
Message quiet_evidence(const SpeedGap& gap) {
    if (!gap.has_interval() || gap.narrow()) return {};
    return msg("Speed ratio of the fastest tenth of the steps: {}.", figure_text(gap.quiet_ratio));
}

/// The mean speeds, which the cards show, where a few slow steps put them in the other order.
Message whole_run_evidence(const RunFigures& baseline, const RunFigures& other,
                           const SpeedGap& gap) {
    const double fast = key_figures(other.record, {}).samples_per_s;
    const double base = key_figures(baseline.record, {}).samples_per_s;
    const bool same_order = (gap.claim() > 1) == (fast > base);
    if (!gap.clear() || !std::isfinite(fast) || !std::isfinite(base) || same_order) return {};
    return msg("Mean speed, over all steps: {} against {}.", figure_text(fast),
               figure_text(base));
}

bool on_cpu(const RunFigures& run) { return run.device == "cpu"; }

bool known(const RunFigures& run) { return std::isfinite(run.speed.samples_per_s); }

/// 0 is written by a program that does not report its memory.
bool memory_known(const RunFigures& baseline, const RunFigures& other) {
    return peak_bytes(baseline.record) > 0 && peak_bytes(other.record) > 0;
}

}  // namespace

std::vector<Message> cost_of(const RunFigures& baseline, const RunFigures& other) {
    const SpeedGap gap = speed_gap(baseline, other);
    if (!known(baseline) || !known(other)) return {};
    std::vector<Message> parts = {speed_words(gap)};
    if (memory_known(baseline, other))
        parts.push_back(memory_words(static_cast<double>(peak_bytes(other.record)) /
                                     static_cast<double>(peak_bytes(baseline.record))));
    return parts;
}

std::vector<Message> cost_evidence(const RunFigures& baseline, const RunFigures& other) {
    if (cost_of(baseline, other).empty()) return {};
    std::vector<Message> sentences;
    if (const SpeedGap gap = speed_gap(baseline, other); gap.blocks > 0)
        sentences = {speeds_evidence(baseline, other), whole_run_evidence(baseline, other, gap),
                     interval_evidence(gap), quiet_evidence(gap)};
    else
        sentences = {not_in_turns()};
    if (memory_known(baseline, other)) {
        sentences.push_back(msg("Peak memory {} against {}.", bytes_text(peak_bytes(other.record)),
                                bytes_text(peak_bytes(baseline.record))));
    }
    if (on_cpu(baseline) || on_cpu(other)) {
        sentences.push_back(msg("The speed of a CPU says nothing about the speed of a GPU."));
    }
    return sentences;
}

}  // namespace engine
