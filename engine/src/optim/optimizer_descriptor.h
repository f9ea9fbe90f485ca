#pragma once

#include <string>

#include "engine/settings/catalog.h"
#include "optim/common_options.h"
#include "optim/optimizer.h"

namespace engine {

/// The kind of this name of optimizers() and schedules(). Throws Error(settings) if there is none.
const OptimizerDescriptor& optimizer_descriptor(const std::string& kind);
const ScheduleDescriptor& schedule_descriptor(const std::string& kind);

}  // namespace engine
