#include "engine/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/catalog.h"
#include "store/recent_median.h"
#include "train/loss_gap.h"

namespace engine {
namespace {

/// Three significant digits, without an exponent where a reader can do without.
std::string figure(double value) {
    const double size = std::abs(value);
    char text[32];
    if (size >= 1000) {
        std::snprintf(text, sizeof text, "%.0f", value);
    } else {
        std::snprintf(text, sizeof text, "%.3g", value);
    }
    return text;
}

/// "1.00" and not "1": how near to equal is the point.
std::string ratio(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

std::string title(const RunFigures& run) {
    for (const auto& info : precisions()) {
        if (info.preset == run.precision) return info.title;
    }
    return run.precision;
}

/// How many times as fast, and in how much of the memory, the second runs. NaN: not known yet.
struct Cost {
    double speed;
    double memory;
    bool known() const { return std::isfinite(speed) && std::isfinite(memory); }
};

double peak_bytes(const StepRecordReader& record) {
    const std::int64_t rows = record.size();
    return rows == 0 ? 0 : static_cast<double>(record.row(rows - 1).peak_bytes);
}

Cost cost_of(const RunFigures& baseline, const RunFigures& other) {
    return {recent_median(baseline.record, &StepRecord::step_ms) /
                recent_median(other.record, &StepRecord::step_ms),
            peak_bytes(other.record) / peak_bytes(baseline.record)};
}

/// The same evaluation of both runs. Only where several seeds ran and both were classified.
struct Accuracies {
    double baseline = 0;
    double other = 0;
    double noise = 0;  ///< how far apart two equal runs may come
    bool known = false;
    double gap() const { return other - baseline; }
};

Accuracies seeded_accuracies(const RunFigures& baseline, const RunFigures& other) {
    const std::size_t done =
        std::min(baseline.test_accuracies.size(), other.test_accuracies.size());
    Accuracies result;
    const double most = std::max(baseline.seed_noise, other.seed_noise);
    if (done == 0 || !(most > 0)) return result;
    // One run's noise stands for the other's where only one was repeated.
    const auto spread = [most](const RunFigures& run) {
        return run.seed_noise > 0 ? run.seed_noise : most;
    };
    result.baseline = baseline.test_accuracies[done - 1];
    result.other = other.test_accuracies[done - 1];
    result.noise = 2 * std::hypot(spread(baseline), spread(other));
    result.known = std::isfinite(result.gap());
    return result;
}

bool evaluated(const RunFigures& run) {
    return !run.test_losses.empty() || !run.test_accuracies.empty();
}

/// Share of the recent weight updates that rounded to nothing; 0 where it is not measured.
double lost_updates(const RunFigures& run) {
    const double share = recent_median(run.record, &StepRecord::lost_update_share);
    return std::isfinite(share) ? share : 0;
}

constexpr double most_updates = 0.5;

Message too_early_evidence(const LossGap& gap) {
    if (gap.compared < 8) {
        return msg("A verdict needs more steps and a test evaluation of both runs.");
    }
    return msg(
        "After {} steps the losses are {} apart, noise over steps {}; a verdict needs a test "
        "evaluation of both runs.",
        gap.steps, figure(gap.size()), figure(gap.noise));
}

Message step_evidence(const LossGap& gap, const Cost& cost, const std::string& name) {
    if (!cost.known()) {
        return msg("Losses {} apart, noise over steps {} (one seed ran).", figure(gap.size()),
                   figure(gap.noise));
    }
    return msg(
        "Losses {} apart, noise over steps {} (one seed ran). {} is {}× as fast in {}× the memory.",
        figure(gap.size()), figure(gap.noise), name, ratio(cost.speed), ratio(cost.memory));
}

/// A gap beyond noise that is small beside the loss itself.
Message lag_evidence(const LossGap& gap, const Cost& cost, const std::string& name) {
    const std::string share = figure(100 * gap.size() / std::abs(gap.level));
    if (!cost.known()) {
        return msg("Losses {} apart, steadily but only {} % of the loss (one seed ran).",
                   figure(gap.size()), share);
    }
    return msg(
        "Losses {} apart, steadily but only {} % of the loss (one seed ran). {} is {}× as fast in "
        "{}× the memory.",
        figure(gap.size()), share, name, ratio(cost.speed), ratio(cost.memory));
}

Message seed_evidence(const Accuracies& tests, const Cost& cost, const std::string& name) {
    const std::string apart = figure(100 * std::abs(tests.gap()));
    const std::string noise = figure(100 * tests.noise);
    if (!cost.known()) {
        return msg("Test accuracies {} points apart, noise over seeds {} points.", apart, noise);
    }
    return msg(
        "Test accuracies {} points apart, noise over seeds {} points. {} is {}× as fast in {}× the "
        "memory.",
        apart, noise, name, ratio(cost.speed), ratio(cost.memory));
}

/// Why a run in 16-bit weights stands still.
Message lost_evidence(double share, const LossGap& gap) {
    const std::string percent = figure(100 * share);
    if (gap.compared < 8) {
        return msg(
            "Most updates ({} %) are smaller than half a unit of the weights and vanish. Master "
            "weights in fp32 would keep them.",
            percent);
    }
    return msg(
        "Most updates ({} %) are smaller than half a unit of the weights and vanish: losses {} "
        "apart, noise over steps {}. Master weights in fp32 would keep them.",
        percent, figure(gap.size()), figure(gap.noise));
}

Verdict not_a_number(const RunFigures& run, std::int64_t step) {
    return {VerdictTone::bad, msg("{} parted at step {}.", title(run), step),
            msg("Its loss has not been a finite number since then.")};
}

Verdict by_seeds(const Accuracies& tests, const Cost& cost, const RunFigures& other,
                 const LossGap& gap) {
    const std::string name = title(other);
    const Message evidence = seed_evidence(tests, cost, name);
    if (std::abs(tests.gap()) <= tests.noise) {
        return {VerdictTone::good, msg("No difference beyond seed noise."), evidence};
    }
    if (tests.gap() > 0) {
        return {VerdictTone::good,
                msg("{} is better by {} points.", name, figure(100 * tests.gap())), evidence};
    }
    const double lost = lost_updates(other);
    return {VerdictTone::bad, msg("{} is worse by {} points.", name, figure(-100 * tests.gap())),
            lost > most_updates ? lost_evidence(lost, gap) : evidence};
}

Verdict by_steps(const LossGap& gap, const Cost& cost, const RunFigures& other) {
    const std::string name = title(other);
    if (!gap.beyond_noise()) {
        return {VerdictTone::good, msg("Same result so far."), step_evidence(gap, cost, name)};
    }
    if (gap.parted == 0) {
        return {VerdictTone::good, msg("Same result so far."), lag_evidence(gap, cost, name)};
    }
    if (gap.gap < 0) {
        return {VerdictTone::good, msg("{} has the lower loss since step {}.", name, gap.parted),
                step_evidence(gap, cost, name)};
    }
    const double lost = lost_updates(other);
    return {VerdictTone::bad, msg("{} parted at step {}.", name, gap.parted),
            lost > most_updates ? lost_evidence(lost, gap) : step_evidence(gap, cost, name)};
}

}  // namespace

Verdict judge(const RunFigures& baseline, const RunFigures& other) {
    const LossGap gap = loss_gap(baseline.record, other.record);
    // A loss that is lost needs no evaluation to be seen.
    if (gap.baseline_lost != 0 && gap.other_lost != 0) {
        return {VerdictTone::bad, msg("Neither run learns any more."),
                msg("The losses have not been finite numbers since steps {} and {}.",
                    gap.baseline_lost, gap.other_lost)};
    }
    if (gap.other_lost != 0) return not_a_number(other, gap.other_lost);
    if (gap.baseline_lost != 0) return not_a_number(baseline, gap.baseline_lost);

    const Accuracies tests = seeded_accuracies(baseline, other);
    const bool early = !evaluated(baseline) || !evaluated(other);
    if (early || (!tests.known && gap.compared < 8)) {
        return {VerdictTone::neutral, msg("Too early to say."), too_early_evidence(gap)};
    }
    const Cost cost = cost_of(baseline, other);
    return tests.known ? by_seeds(tests, cost, other, gap) : by_steps(gap, cost, other);
}

}  // namespace engine
