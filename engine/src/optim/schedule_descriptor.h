#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/options.h"
#include "kernels/step_figures.h"

namespace engine {

/// A kind of learning-rate schedule: the only place that knows it (decisions.md#descriptor, D16).
struct ScheduleDescriptor {
    std::string kind;          ///< as in RunConfig
    std::string title;         ///< "Cosine"
    std::string summary = {};  ///< one sentence, or empty
    std::vector<OptionSpec> options = {};
    /// The schedule for `planned` updates, without the warm-up; skipped steps do not advance it.
    kernels::LearningRateSchedule (*make)(const TypedOptions& options, double lr,
                                          std::int64_t planned) = nullptr;
};

/// All kinds, in the order in which they are offered.
std::span<const ScheduleDescriptor> schedule_descriptors();
/// Throws Error(settings) if there is no such kind.
const ScheduleDescriptor& schedule_descriptor(const std::string& kind);

}  // namespace engine
