#pragma once

#include <optional>

#include "engine/settings/run_config.h"
#include "engine/train/machine.h"

namespace engine {

/// The generation of a compute capability; the newest known for a later one, the oldest for an
/// earlier one.
const GpuGeneration& gpu_generation(int major, int minor);

/// For each precision, whether it pays on a card of that generation.
std::vector<MachineReport::Pay> payoffs(const GpuGeneration& generation);

/// Why a card cannot train in a precision, and what the user can do.
struct PrecisionLack {
    Message what, hint;
};
/// Nothing if cards of that generation can.
std::optional<PrecisionLack> lack_of(const GpuGeneration& generation,
                                     const ResolvedPrecision& precision);

}  // namespace engine
