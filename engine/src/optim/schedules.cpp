#include <algorithm>

#include "engine/base/error.h"
#include "kernels/step_figures.h"
#include "optim/optimizer_descriptor.h"

namespace engine {
namespace {

using kernels::LearningRateSchedule;
using kernels::ScheduleKind;

constexpr double max_updates = 1'000'000'000;

/// An option of every kind.
OptionSpec warmup_option() {
    return option("warmup_steps", "Warm-up", std::int64_t{0},
                  "Applied updates over which the learning rate first rises linearly to where the "
                  "schedule begins (0 = none). The schedule then takes the remaining updates.",
                  opt::unit("updates"), opt::between(0, max_updates));
}

/// An option of every kind.
OptionSpec lengthened_option() {
    return option("lengthened", "Lengthened", std::string(),
                  "Written by halftone resume --schedule: how the schedule goes on beyond its "
                  "first plan. Empty: one schedule over the whole run.");
}

std::optional<OptionConflict> check_milestones(const TypedOptions& given) {
    const std::vector<std::int64_t> milestones = given.integers("milestones");
    const bool rising = std::ranges::adjacent_find(milestones, std::ranges::greater_equal()) ==
                        milestones.end();
    if (rising && !milestones.empty() && milestones.size() <= kernels::max_milestones)
        return std::nullopt;
    return OptionConflict{"milestones", msg("use 1 to {} numbers, each larger than the one before",
                                            std::int64_t{kernels::max_milestones})};
}

void set_milestones(const TypedOptions& given, LearningRateSchedule& schedule) {
    schedule.gamma = given.number("gamma");
    const std::vector<std::int64_t> milestones = given.integers("milestones");
    // The settings of a stored run may hold what a check would refuse.
    if (milestones.size() > kernels::max_milestones)
        throw Error(ErrorCode::settings, "schedule.milestones: more than " +
                                             std::to_string(kernels::max_milestones) + " numbers");
    for (const std::int64_t milestone : milestones)
        schedule.milestones[schedule.milestone_count++] = milestone;
}

std::vector<ScheduleDescriptor> schedule_rows() {
    return {
        {.kind = "constant", .title = "Constant", .summary = "The same learning rate throughout."},
        {.kind = "cosine",
         .title = "Cosine",
         .summary = "Falls to 0 along half a cosine.",
         .form = ScheduleKind::cosine},
        {.kind = "step",
         .title = "Step",
         .summary = "Multiplies the learning rate by gamma every few updates.",
         .options = {option("step_size", "Step size", std::int64_t{1000},
                            "Applied updates between two drops of the learning rate.",
                            opt::unit("updates"), opt::between(1, max_updates)),
                     option("gamma", "Gamma", 0.1,
                            "Each drop multiplies the learning rate by this.", opt::between(0, 1))},
         .form = ScheduleKind::step,
         .set =
             [](const TypedOptions& given, LearningRateSchedule& schedule) {
                 schedule.step_size = given.integer("step_size");
                 schedule.gamma = given.number("gamma");
             }},
        {.kind = "multi-step",
         .title = "Multi-step",
         .summary = "Multiplies the learning rate by gamma at each milestone.",
         .options = {option("milestones", "Milestones", std::vector<std::int64_t>{1000},
                            "When the learning rate drops: a rising list, counted from the run's "
                            "first update, warm-up included.",
                            opt::between(1, max_updates), opt::prominent),
                     option("unit", "Milestones in", std::string("updates"),
                            "Applied updates, or epochs: a milestone in epochs stands for as many "
                            "times the updates of an epoch.",
                            opt::one_of({{"updates", "Updates"}, {"epochs", "Epochs"}}),
                            opt::prominent),
                     option("gamma", "Gamma", 0.1,
                            "Each drop multiplies the learning rate by this.", opt::between(0, 1))},
         .form = ScheduleKind::multi_step,
         .set = set_milestones,
         .check = check_milestones},
        {.kind = "one-cycle",
         .title = "One-cycle",
         .summary = "Rises from 1/25 of the largest learning rate over the first 30 % of the "
                    "updates, then falls to nearly 0.",
         .options = {option("max_lr", "Largest rate", 0.0,
                            "Learning rate at the top of the cycle (0 = optimizer.lr).",
                            opt::at_least(0), opt::fits_f32)},
         .form = ScheduleKind::one_cycle,
         .set =
             [](const TypedOptions& given, LearningRateSchedule& schedule) {
                 const double largest = given.number("max_lr");
                 if (largest > 0) schedule.base = largest;
             }},
        {.kind = "polynomial",
         .title = "Polynomial",
         .summary = "Falls to 0 along a power of the share of updates left; power 1 is a straight "
                    "line.",
         .options = {option("power", "Power", 1.0, "1 falls in a straight line, 2 faster at first.",
                            opt::between(0, 100))},
         .form = ScheduleKind::polynomial,
         .set = [](const TypedOptions& given,
                   LearningRateSchedule& schedule) { schedule.power = given.number("power"); }},
        {.kind = "plateau",
         .title = "Plateau",
         .summary = "Multiplies the learning rate by gamma when the evaluated metric has stopped "
                    "improving.",
         .options = {option("gamma", "Gamma", 0.1,
                            "Each drop multiplies the learning rate by this.",
                            opt::from_to_below(0, 1)),
                     option("patience", "Patience", std::int64_t{10},
                            "Evaluated epochs without improvement that are tolerated before the "
                            "learning rate drops.",
                            opt::unit("epochs"), opt::between(0, max_updates))},
         .follows_metric = true,
         .form = ScheduleKind::plateau}};
}

}  // namespace

std::span<const ScheduleDescriptor> schedules() {
    static const std::vector<ScheduleDescriptor> list = [] {
        std::vector<ScheduleDescriptor> all = schedule_rows();
        for (ScheduleDescriptor& each : all) {
            each.options.push_back(warmup_option());
            each.options.push_back(lengthened_option());
        }
        return all;
    }();
    return list;
}

const ScheduleDescriptor& schedule_descriptor(const std::string& kind) {
    if (const ScheduleDescriptor* found = find_kind(schedules(), kind)) return *found;
    throw Error(ErrorCode::settings, "schedule.kind: there is no schedule " + kind);
}

}  // namespace engine
