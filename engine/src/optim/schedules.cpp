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
    return {.name = "warmup_steps",
            .label = "Warm-up",
            .default_value = std::int64_t{0},
            .help =
                "Applied updates over which the learning rate first rises linearly to where "
                "the schedule begins (0 = none). The schedule then takes the remaining "
                "updates.",
            .unit = "updates",
            .lowest = 0,
            .highest = max_updates};
}

/// An option of every kind.
OptionSpec lengthened_option() {
    return {.name = "lengthened",
            .label = "Lengthened",
            .default_value = std::string(),
            .help =
                "Written by halftone resume --schedule: how the schedule goes on beyond its "
                "first plan. Empty: one schedule over the whole run."};
}

ScheduleDescriptor constant_schedule() {
    return {.kind = "constant",
            .title = "Constant",
            .summary = "The same learning rate throughout.",
            .make = [](const TypedOptions&, double lr, std::int64_t planned) {
                return LearningRateSchedule{.base = lr, .planned = planned};
            }};
}

ScheduleDescriptor cosine_schedule() {
    return {.kind = "cosine",
            .title = "Cosine",
            .summary = "Falls to 0 along half a cosine.",
            .make = [](const TypedOptions&, double lr, std::int64_t planned) {
                return LearningRateSchedule{
                    .base = lr, .kind = ScheduleKind::cosine, .planned = planned};
            }};
}

ScheduleDescriptor step_schedule() {
    return {.kind = "step",
            .title = "Step",
            .summary = "Multiplies the learning rate by gamma every few updates.",
            .options = {{.name = "step_size",
                         .label = "Step size",
                         .default_value = std::int64_t{1000},
                         .help = "Applied updates between two drops of the learning rate.",
                         .unit = "updates",
                         .lowest = 1,
                         .highest = max_updates},
                        {.name = "gamma",
                         .label = "Gamma",
                         .default_value = 0.1,
                         .help = "Each drop multiplies the learning rate by this.",
                         .lowest = 0,
                         .highest = 1}},
            .make = [](const TypedOptions& options, double lr, std::int64_t planned) {
                return LearningRateSchedule{.base = lr,
                                            .kind = ScheduleKind::step,
                                            .planned = planned,
                                            .step_size = options.integer("step_size"),
                                            .gamma = options.number("gamma")};
            }};
}

ScheduleDescriptor one_cycle_schedule() {
    return {.kind = "one-cycle",
            .title = "One-cycle",
            .summary =
                "Rises from 1/25 of the largest learning rate over the first 30 % of the "
                "updates, then falls to nearly 0.",
            .options = {{.name = "max_lr",
                         .label = "Largest rate",
                         .default_value = 0.0,
                         .help = "Learning rate at the top of the cycle (0 = optimizer.lr).",
                         .lowest = 0,
                         .fits_f32 = true}},
            .make = [](const TypedOptions& options, double lr, std::int64_t planned) {
                const double largest = options.number("max_lr");
                return LearningRateSchedule{.base = largest > 0 ? largest : lr,
                                            .kind = ScheduleKind::one_cycle,
                                            .planned = planned};
            }};
}

ScheduleDescriptor polynomial_schedule() {
    return {.kind = "polynomial",
            .title = "Polynomial",
            .summary =
                "Falls to 0 along a power of the share of updates left; power 1 is a "
                "straight line.",
            .options = {{.name = "power",
                         .label = "Power",
                         .default_value = 1.0,
                         .help = "1 falls in a straight line, 2 faster at first.",
                         .lowest = 0,
                         .highest = 100}},
            .make = [](const TypedOptions& options, double lr, std::int64_t planned) {
                return LearningRateSchedule{.base = lr,
                                            .kind = ScheduleKind::polynomial,
                                            .planned = planned,
                                            .power = options.number("power")};
            }};
}

ScheduleDescriptor plateau_schedule() {
    return {.kind = "plateau",
            .title = "Plateau",
            .summary =
                "Multiplies the learning rate by gamma when the evaluated metric has "
                "stopped improving.",
            .options = {{.name = "gamma",
                         .label = "Gamma",
                         .default_value = 0.1,
                         .help = "Each drop multiplies the learning rate by this.",
                         .lowest = 0,
                         .highest = 1,
                         .below_highest = true},
                        {.name = "patience",
                         .label = "Patience",
                         .default_value = std::int64_t{10},
                         .help = "Epochs without improvement that are tolerated before the "
                                 "learning rate drops.",
                         .unit = "epochs",
                         .lowest = 0,
                         .highest = max_updates}},
            .follows_metric = true,
            .make = [](const TypedOptions&, double lr, std::int64_t planned) {
                return LearningRateSchedule{
                    .base = lr, .kind = ScheduleKind::plateau, .planned = planned};
            }};
}

}  // namespace

std::span<const ScheduleDescriptor> schedules() {
    static const std::vector<ScheduleDescriptor> list = [] {
        std::vector<ScheduleDescriptor> all = {constant_schedule(),   cosine_schedule(),
                                               step_schedule(),       one_cycle_schedule(),
                                               polynomial_schedule(), plateau_schedule()};
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
