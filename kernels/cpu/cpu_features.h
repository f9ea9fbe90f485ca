#pragma once

#include "kernels/device.h"

namespace kernels::cpu {

/// Enters the processor's features whose registers the operating system saves. Without regard to
/// HALFTONE_CPU.
void read_features(CpuInfo& info);

}  // namespace kernels::cpu
