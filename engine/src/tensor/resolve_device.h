#pragma once

#include "tensor/device.h"

namespace engine {

/// The device that a setting means. "auto" is the first GPU if it and its libraries can be used,
/// else the CPU; "cuda" is "cuda:0". Throws Error(device) for a missing one.
Device resolve_device(const std::string& setting);

}  // namespace engine
