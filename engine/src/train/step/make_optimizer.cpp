#include "train/step/make_optimizer.h"

#include <algorithm>
#include <sstream>

#include "engine/base/error.h"
#include "optim/optimizer_descriptor.h"

namespace engine {
namespace {

constexpr char constant_word[] = "constant", cycle_word[] = "cycle";

/// "cycle 0 10 10 10": how the schedule goes on, and four fields of LearningRateSchedule.
void read_lengthening(kernels::LearningRateSchedule& schedule, const std::string& text) {
    if (text.empty()) return;
    constexpr std::int64_t most = std::int64_t{1} << 53;
    std::istringstream in(text);
    std::string word;
    in >> word >> schedule.first_begin >> schedule.first_end >> schedule.first_planned >>
        schedule.planned_before;
    const bool numbers = !in.fail() && (in >> std::ws).eof() && schedule.first_begin >= 0 &&
                         schedule.first_begin < schedule.first_end && schedule.first_end < most &&
                         schedule.first_planned > 0 && schedule.planned_before > 0;
    schedule.holds = word == constant_word;
    if (numbers && (schedule.holds || word == cycle_word)) return;
    throw Error(
        ErrorCode::settings,
        msg("schedule.lengthened: {}: leave it empty; halftone resume --schedule writes it", text));
}

std::string lengthening(const kernels::LearningRateSchedule& schedule) {
    std::ostringstream out;
    out << (schedule.holds ? constant_word : cycle_word) << ' ' << schedule.first_begin << ' '
        << schedule.first_end << ' ' << schedule.first_planned << ' ' << schedule.planned_before;
    return out.str();
}

[[noreturn]] void refuse_third_part(const kernels::LearningRateSchedule& schedule) {
    throw Error(ErrorCode::settings,
                msg("The schedule was lengthened before, and that part has not come to its end at "
                    "step {}.",
                    schedule.planned),
                msg("Resume the run to its end first, or take --schedule stretch."));
}

/// Throws Error(settings) if the rate of the next step is far above both the rate of the last step
/// and the next rate of the earlier plan, which may rise by itself.
void refuse_jump(const RunConfig& config, const RunConfig& saved, const LongerRun& run,
                 const PlannedSteps& planned) {
    constexpr double slack = 1.1;
    const auto earlier = make_schedule(saved, {run.planned, planned.per_epoch});
    const double last = kernels::learning_rate(earlier, std::max<std::int64_t>(run.updates - 1, 0));
    const double expected = kernels::learning_rate(earlier, run.updates);
    const double next = kernels::learning_rate(make_schedule(config, planned), run.updates);
    if (next <= slack * std::max(last, expected)) return;
    throw Error(ErrorCode::settings,
                msg("The run was planned over {} steps and gets {}: under the schedule {} the "
                    "learning rate jumps from {} to {} at step {}.",
                    run.planned, planned.all, config.schedule.kind, last, next, run.steps + 1),
                msg("Choose with --schedule: constant keeps the last rate for the added steps, "
                    "cycle begins the schedule anew over them, stretch makes one schedule over all "
                    "steps."));
}

/// Milestones in epochs become milestones in updates.
void count_in_updates(kernels::LearningRateSchedule& schedule, const PlannedSteps& planned,
                      std::int64_t epochs) {
    std::int64_t each = planned.per_epoch;
    if (each == 0 && epochs > 0) each = (planned.all + epochs - 1) / epochs;
    if (each == 0) schedule.milestone_count = 0;  // the length of the run is unknown
    for (std::int64_t& milestone : schedule.milestones) milestone *= each;
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          std::vector<Parameter> parameters,
                                          OptimizerOptions options) {
    const OptimizerDescriptor& kind = optimizer_descriptor(config.kind);
    const TypedOptions given(config.options, kind.options);
    options.larc.on = given.flag("larc");
    options.larc.trust = given.number("larc_trust");
    options.larc.clip = given.flag("larc_clip");
    return kind.make(given, std::move(parameters), options);
}

std::int64_t optimizer_state_bytes(const OptimizerConfig& config,
                                   const ResolvedPrecision& precision) {
    const OptimizerDescriptor& kind = optimizer_descriptor(config.kind);
    const bool low =
        kind.low_state && precision.weights == WeightFormat::fp16 && !precision.master_weights;
    const std::int64_t bytes = low ? 2 : 4;
    return kind.states(TypedOptions(config.options, kind.options)) * bytes;
}

kernels::LearningRateSchedule make_schedule(const RunConfig& config,
                                            const PlannedSteps& planned) {
    const ScheduleDescriptor& kind = schedule_descriptor(config.schedule.kind);
    const TypedOptions options(config.schedule.options, kind.options);
    kernels::LearningRateSchedule schedule{.base = learning_rate(config.optimizer),
                                           .kind = kind.form,
                                           .planned = planned.all,
                                           .warmup = options.integer("warmup_steps")};
    if (kind.set != nullptr) kind.set(options, schedule);
    if (schedule.kind == kernels::ScheduleKind::multi_step && options.word("unit") == "epochs")
        count_in_updates(schedule, planned, config.epochs);
    read_lengthening(schedule, options.word("lengthened"));
    return schedule;
}

bool falls_to_end(const RunConfig& config) {
    using kernels::ScheduleKind;
    const ScheduleKind kind = schedule_descriptor(config.schedule.kind).form;
    return kind == ScheduleKind::cosine || kind == ScheduleKind::one_cycle ||
           kind == ScheduleKind::polynomial;
}

std::string write_lengthening(const RunConfig& config, const LongerRun& run,
                              LongerSchedule choice) {
    if (choice == LongerSchedule::ask || choice == LongerSchedule::stretch) return "";
    const kernels::LearningRateSchedule before = make_schedule(config, run.planned);
    kernels::LearningRateSchedule longer = before;
    // Skipped steps do not advance a schedule.
    longer.first_end = std::max<std::int64_t>(run.planned - (run.steps - run.updates), 1);
    longer.planned_before = run.planned;
    longer.holds = choice == LongerSchedule::constant;
    longer.first_begin = 0;
    longer.first_planned = run.planned;
    if (before.first_end > 0 && run.updates < before.first_end) refuse_third_part(before);
    if (before.first_end > 0 && before.holds) {
        if (longer.holds) return lengthening(before);
        if (run.updates < longer.first_end) refuse_third_part(before);
        longer.first_begin = longer.first_end - 1;
        longer.first_planned = 1;
    } else if (before.first_end > 0) {
        longer.first_begin = before.first_end;
        longer.first_planned = run.planned - before.planned_before;
    }
    return lengthening(longer);
}

void lengthen_schedule(RunConfig& config, const RunConfig& saved, const LongerRun& run,
                       const PlannedSteps& steps, LongerSchedule choice, std::vector<Message>& notes) {
    const bool same = saved.schedule == config.schedule;
    const std::int64_t planned = steps.all;
    if (run.planned > planned)
        notes.push_back(msg("Learning-rate schedule: planned over {} steps instead of {}.", planned,
                            run.planned));
    if (run.planned == 0 || run.planned >= planned) {
        if (!same) config.schedule.options["lengthened"] = "";  // another one, over all steps
        return;
    }
    if (same && choice == LongerSchedule::ask) return refuse_jump(config, saved, run, steps);
    config.schedule.options["lengthened"] = write_lengthening(saved, run, choice);
    const std::int64_t added = planned - run.planned;
    if (choice == LongerSchedule::constant)
        notes.push_back(
            msg("Learning-rate schedule: its last rate stays for the {} added steps.", added));
    else if (choice == LongerSchedule::cycle)
        notes.push_back(msg("Learning-rate schedule: begins anew over the {} added steps.", added));
    else
        notes.push_back(msg("Learning-rate schedule: one over {} steps.", planned));
}

}  // namespace engine
