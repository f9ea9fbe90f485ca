#pragma once

#include "core/device.h"

namespace engine {

/// The device that a setting means: "auto" is the first GPU, if it and its libraries can be used,
/// or the CPU; "cuda" is "cuda:0". Throws Error(device) for one that is not there.
Device resolve_device(const std::string& setting);

}  // namespace engine
