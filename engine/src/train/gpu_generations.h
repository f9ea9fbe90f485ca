#pragma once

#include "engine/machine.h"

namespace engine {

/// The generation of a compute capability; the newest known for a later one, the oldest for an
/// earlier one.
const GpuGeneration& gpu_generation(int major, int minor);

/// For each precision, whether it pays on a card of that generation.
std::vector<MachineReport::Pay> payoffs(const GpuGeneration& generation);

}  // namespace engine
