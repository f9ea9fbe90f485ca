#include <algorithm>

#include "engine/catalog.h"
#include "engine/error.h"
#include "optim/schedule_descriptor.h"

namespace engine {
namespace {

ScheduleDescriptor constant_schedule() {
    return {.kind = "constant",
            .title = "Constant",
            .make = [](const TypedOptions&, double lr, std::int64_t planned) {
                return kernels::LearningRateSchedule{.base = lr, .planned = planned};
            }};
}

ScheduleDescriptor cosine_schedule() {
    return {.kind = "cosine",
            .title = "Cosine",
            .make = [](const TypedOptions&, double lr, std::int64_t planned) {
                return kernels::LearningRateSchedule{
                    .base = lr, .cosine = true, .planned = planned};
            }};
}

}  // namespace

std::span<const ScheduleDescriptor> schedule_descriptors() {
    static const std::vector<ScheduleDescriptor> list = {constant_schedule(), cosine_schedule()};
    return list;
}

const ScheduleDescriptor& schedule_descriptor(const std::string& kind) {
    const auto all = schedule_descriptors();
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const ScheduleDescriptor& one) { return one.kind == kind; });
    if (found != all.end()) return *found;
    throw Error(ErrorCode::settings, "schedule.kind: there is no schedule " + kind);
}

std::span<const ScheduleInfo> schedules() {
    static const std::vector<ScheduleInfo> list = [] {
        std::vector<ScheduleInfo> infos;
        for (const ScheduleDescriptor& from : schedule_descriptors())
            infos.push_back({from.kind, from.title, from.summary, from.options});
        return infos;
    }();
    return list;
}

}  // namespace engine
