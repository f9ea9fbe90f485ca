#pragma once

#include <map>
#include <string>

#include "tensor/device.h"

namespace engine {

/// FLOP/s that a large matrix product reaches on the device in f32, f16 and bf16, by the names of
/// the types. Measured for some hundred milliseconds at the first call; kept for the process, for
/// each device and number of threads.
std::map<std::string, double> peak_speeds(const Device& device);

}  // namespace engine
