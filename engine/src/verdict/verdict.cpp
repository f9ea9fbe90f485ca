#include "engine/verdict/verdict.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "engine/base/plain_text.h"
#include "engine/number/figure_text.h"
#include "engine/runs/run_store.h"
#include "engine/settings/catalog.h"
#include "record/median.h"
#include "verdict/loss_gap.h"
#include "verdict/run_cost.h"
#include "verdict/run_speedup.h"

namespace engine {
namespace {

std::string title(const RunFigures& run) {
    return run.title.empty() ? title_of(precisions(), run.precision) : run.title;
}

/// Outcomes of the last evaluation that both runs made after the same step. Only where several seeds ran and both were
/// evaluated.
struct Outcomes {
    Metric metric;
    double baseline = 0;
    double other = 0;
    double noise = 0;  ///< how far apart two equal runs may come
    bool known = false;
    double gap() const { return other - baseline; }
    bool better() const { return metric.higher_is_better ? gap() > 0 : gap() < 0; }
    /// The difference as text: points of a share, else per cent of the baseline.
    std::string shown(double difference) const {
        return short_figure_text(100 * std::abs(difference) /
                                 (metric.is_share ? 1 : std::abs(baseline)));
    }
};

/// The metric that runs are compared by: the task's primary one, else the loss.
Metric compared_metric(const RunFigures& run) {
    if (!run.metric.key.empty()) return run.metric;
    return {.key = "", .title = "Loss", .higher_is_better = false};
}

double value_of(const PartFigures& figures, const Metric& metric) {
    return metric.key.empty() ? figures.loss : figures.of(metric.key);
}

Outcomes seeded_outcomes(const RunFigures& baseline, const RunFigures& other) {
    auto first = baseline.tests.rbegin(), second = other.tests.rbegin();
    while (first != baseline.tests.rend() && second != other.tests.rend() &&
           first->step != second->step)
        ++(first->step > second->step ? first : second);
    const bool common = first != baseline.tests.rend() && second != other.tests.rend();
    Outcomes result{.metric = compared_metric(baseline)};
    const double most = std::max(baseline.seed_noise, other.seed_noise);
    if (!common || !(most > 0)) return result;
    // One run's noise stands for the other's where only one was repeated.
    const auto spread = [most](const RunFigures& run) {
        return run.seed_noise > 0 ? run.seed_noise : most;
    };
    result.baseline = value_of(first->figures, result.metric);
    result.other = value_of(second->figures, result.metric);
    result.noise = 2 * std::hypot(spread(baseline), spread(other));
    result.known = std::isfinite(result.gap());
    return result;
}

bool evaluated(const RunFigures& run) { return !run.tests.empty(); }

bool has_master_weights(const RunFigures& run) {
    const PrecisionDescriptor* preset = find_kind(precisions(), run.precision);
    return preset != nullptr && preset->settings.master_weights;
}

/// Share of the recent weight updates that rounded to nothing; 0 where it is not measured or
/// masters keep them.
double lost_updates(const RunFigures& run) {
    if (has_master_weights(run)) return 0;
    const double share = recent_median(run.record, &StepRecord::lost_update_share);
    return std::isfinite(share) ? share : 0;
}

constexpr double max_updates = 0.5;

using Sentences = std::vector<Message>;

Message too_early_evidence(const LossGap& gap) {
    if (gap.compared < 8) {
        return msg("A verdict needs more steps and a test evaluation of both runs.");
    }
    return msg(
        "After {} steps the losses are {} apart, step-to-step noise {}; a verdict needs a test "
        "evaluation of both runs.",
        gap.steps, figure_text(gap.size()), figure_text(gap.noise));
}

Message step_evidence(const LossGap& gap) {
    return msg("Losses {} apart, step-to-step noise {} (1 seed).", figure_text(gap.size()),
               figure_text(gap.noise));
}

/// A gap beyond noise that is small beside the loss itself.
Message lag_evidence(const LossGap& gap) {
    return msg("Losses {} apart, steadily but only {} % of the loss (1 seed).",
               figure_text(gap.size()), short_figure_text(100 * gap.size() / std::abs(gap.level)));
}

Message seed_evidence(const Outcomes& tests) {
    const std::string apart = tests.shown(tests.gap()), noise = tests.shown(tests.noise);
    if (tests.metric.key == "accuracy")
        return msg("Test accuracies {} points apart, seed noise {} points.", apart, noise);
    if (tests.metric.is_share)
        return msg("{} on the test part: {} points apart, seed noise {} points.",
                   tests.metric.title, apart, noise);
    return msg("{} on the test part: {} % apart, seed noise {} %.", tests.metric.title, apart,
               noise);
}

/// Why a run in 16-bit weights stands still.
Message lost_evidence(double share, const LossGap& gap) {
    const std::string percent = short_figure_text(100 * share);
    if (gap.compared < 8) {
        return msg(
            "Most updates ({} %) are smaller than half a unit in the last place of the weights and "
            "vanish. Master weights in fp32 would keep them.",
            percent);
    }
    return msg(
        "Most updates ({} %) are smaller than half a unit in the last place of the weights and "
        "vanish: losses {} apart, step-to-step noise {}. Master weights in fp32 would keep them.",
        percent, figure_text(gap.size()), figure_text(gap.noise));
}

/// The value that a loss has become.
std::string lost_value(const RunFigures& run, std::int64_t step) {
    return std::isnan(run.record.row(step - 1).loss) ? "NaN" : "∞";
}

Verdict diverged(const RunFigures& run, std::int64_t step) {
    return {VerdictTone::bad,
            msg("{} diverged ({} at step {}).", title(run), lost_value(run, step), step),
            {},
            {msg("Its loss has not been a finite number since then.")}};
}

Verdict both_diverged(const RunFigures& baseline, const RunFigures& other, const LossGap& gap) {
    const std::string first = lost_value(baseline, gap.baseline_lost);
    const std::string second = lost_value(other, gap.other_lost);
    return {VerdictTone::bad,
            msg("Both runs diverged ({} at steps {}, {}).",
                first == second ? first : first + ", " + second, gap.baseline_lost, gap.other_lost),
            {},
            {msg("Their losses have not been finite numbers since then.")}};
}

Message better_by(const std::string& name, const Outcomes& tests) {
    const std::string difference = tests.shown(tests.gap());
    return tests.metric.is_share ? msg("{} is better by {} points.", name, difference)
                                 : msg("{} is better by {} %.", name, difference);
}

Message worse_by(const std::string& name, const Outcomes& tests) {
    const std::string difference = tests.shown(tests.gap());
    return tests.metric.is_share ? msg("{} is worse by {} points.", name, difference)
                                 : msg("{} is worse by {} %.", name, difference);
}

Verdict by_seeds(const Outcomes& tests, const RunFigures& other, const LossGap& gap) {
    const std::string name = title(other);
    const Sentences evidence = {seed_evidence(tests)};
    if (std::abs(tests.gap()) <= tests.noise) {
        return {VerdictTone::good, msg("No difference beyond seed noise."), {}, evidence};
    }
    if (tests.better()) return {VerdictTone::good, better_by(name, tests), {}, evidence};
    const double lost = lost_updates(other);
    return {VerdictTone::bad,
            worse_by(name, tests),
            {},
            lost > max_updates ? Sentences{lost_evidence(lost, gap)} : evidence};
}

Verdict by_steps(const LossGap& gap, const RunFigures& other, bool ended) {
    const std::string name = title(other);
    if (!gap.beyond_noise() || gap.parted == 0) {
        return {VerdictTone::good,
                ended ? msg("No measurable difference.") : msg("Same result so far."),
                {},
                {gap.beyond_noise() ? lag_evidence(gap) : step_evidence(gap)}};
    }
    if (gap.gap < 0) {
        return {VerdictTone::good,
                msg("{} has the lower loss since step {}.", name, gap.parted),
                {},
                {step_evidence(gap)}};
    }
    const double lost = lost_updates(other);
    return {VerdictTone::bad,
            msg("{} parted at step {}.", name, gap.parted),
            {},
            {lost > max_updates ? lost_evidence(lost, gap) : step_evidence(gap)}};
}

/// Whether both runs are known to have another value.
bool differ(const std::string& baseline, const std::string& other) {
    return !baseline.empty() && !other.empty() && baseline != other;
}

Verdict different_tasks(const RunFigures& baseline, const RunFigures& other) {
    return {VerdictTone::neutral,
            msg("Different tasks: not compared."),
            {},
            {msg("{}: {}. {}: {}.", title(baseline), title_of(tasks(), baseline.task), title(other),
                 title_of(tasks(), other.task))}};
}

/// Differences between the two runs, in sentences; empty if there are none.
Sentences differences(const RunFigures& baseline, const RunFigures& other) {
    Sentences out;
    if (differ(baseline.data, other.data)) {
        out.push_back(msg("Different data: {} and {}.", baseline.data, other.data));
    } else if (differ(baseline.data_settings, other.data_settings)) {
        out.push_back(msg("Different data: the settings of the data set differ."));
    }
    const std::int64_t a = baseline.record.size(), b = other.record.size();
    // Runs that train side by side are at most a step apart.
    if (a > b + 1 || b > a + 1)
        out.push_back(msg("Different numbers of steps, {} and {}: the first {} are compared.", a, b,
                          std::min(a, b)));
    return out;
}

/// A result on other data is nothing to be pleased or worried about.
void name_differences(Verdict& verdict, const RunFigures& baseline, const RunFigures& other) {
    const bool same_data =
        !differ(baseline.data, other.data) && !differ(baseline.data_settings, other.data_settings);
    if (!same_data && verdict.tone == VerdictTone::good) verdict.tone = VerdictTone::neutral;
    const Sentences named = differences(baseline, other);
    verdict.evidence.insert(verdict.evidence.begin(), named.begin(), named.end());
}

}  // namespace

RunFigures figures_of(const RunStarted& started) {
    RunFigures out;
    out.precision = started.config.precision.preset;
    out.device = started.device;
    out.metric = started.metrics.empty() ? Metric{} : started.metrics.front();
    out.unit = started.unit;
    // Another program that does not name its task is not known to have this one.
    if (!started.origin || started.task != RunStarted().task) out.task = started.task;
    RunSummary named;
    named.config = started.config;
    named.origin = started.origin;
    out.data = dataset_name(named);
    if (out.data == "-") out.data.clear();
    if (!started.origin) {
        RunConfig data;
        data.dataset = started.config.dataset;
        out.data_settings = to_json(data);
    }
    out.turns = started.turns;
    out.in_turns_from = started.first_step;
    return out;
}

void JudgedEvents::apply(const Event& event) {
    if (const auto* started = std::get_if<RunStarted>(&event)) {
        started_ = figures_of(*started);
        ended_ = false;  // it was resumed
    }
    const auto* epoch = std::get_if<EpochDone>(&event);
    if (epoch && epoch->evaluated && epoch->step >= first_step_)
        tests_.push_back({epoch->step, epoch->test});
    ended_ = ended_ || std::holds_alternative<RunDone>(event);
}

RunFigures JudgedEvents::figures(const StepRecordReader& record) const {
    RunFigures out = started_;
    out.tests = tests_;
    out.record = record;
    out.ended = ended_;
    out.first_step = first_step_;
    return out;
}

std::string Verdict::details() const {
    std::string text = join(cost, ", ", &Message::str);
    if (!text.empty()) {
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
        text += '.';
    }
    if (!text.empty() && !evidence.empty()) text += ' ';
    return text + join(evidence, " ", &Message::str);
}

namespace {

void add_cost(Verdict& verdict, const RunFigures& baseline, const RunFigures& other) {
    verdict.cost = cost_of(baseline, other);
    const RunSpeedup speedup = run_speedup(baseline, other);
    verdict.speedup = speedup.sentence;
    verdict.speedup_explained = speedup.explained;
    std::vector<Message> sentences = cost_evidence(baseline, other);
    sentences.insert(sentences.end(), {speedup.sentence, speedup.evidence});
    for (Message& sentence : sentences) {
        if (!sentence.empty()) verdict.evidence.push_back(std::move(sentence));
    }
}

}  // namespace

Verdict judge(const RunFigures& baseline, const RunFigures& other) {
    if (differ(baseline.task, other.task)) return different_tasks(baseline, other);
    const std::int64_t first_row = std::max(baseline.first_step, other.first_step) - 1;
    const LossGap gap = loss_gap(baseline.record, other.record, first_row);
    // A loss that is lost needs no evaluation to be seen.
    if (gap.baseline_lost != 0 && gap.other_lost != 0) return both_diverged(baseline, other, gap);
    if (gap.other_lost != 0) return diverged(other, gap.other_lost);
    if (gap.baseline_lost != 0) return diverged(baseline, gap.baseline_lost);

    const Outcomes tests = seeded_outcomes(baseline, other);
    const bool early = !evaluated(baseline) || !evaluated(other);
    if (early || (!tests.known && gap.compared < 8)) {
        Verdict verdict{
            VerdictTone::neutral, msg("Too early to say."), {}, {too_early_evidence(gap)}};
        name_differences(verdict, baseline, other);
        return verdict;
    }
    Verdict verdict = tests.known ? by_seeds(tests, other, gap)
                                  : by_steps(gap, other, baseline.ended && other.ended);
    name_differences(verdict, baseline, other);
    add_cost(verdict, baseline, other);
    return verdict;
}

}  // namespace engine
