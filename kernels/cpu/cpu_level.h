#pragma once

#include <string>

#include "kernels/device.h"

namespace kernels::cpu {

/// Instruction sets that our loops and oneDNN may use. Each level includes those before it.
enum class CpuLevel : unsigned char {
    sse2,         ///< our loops: SSE2; oneDNN: up to SSE4.1, which is its lowest limit
    avx2,         ///< with FMA and F16C
    avx512,       ///< F, BW, CD, DQ and VL
    avx512_bf16,  ///< oneDNN computes bf16
    amx,          ///< AMX-BF16 and AVX512_FP16
};

const char* to_string(CpuLevel level);

/// The highest level that the processor and the operating system support.
CpuLevel highest_level();

/// The level that HALFTONE_CPU names, else highest_level(). A process has one level from its start:
/// oneDNN accepts a limit only before its first use. A value that names no level of this processor
/// ends the process at its start, with a sentence on standard error and exit code 2.
CpuLevel level();

/// Enters the processor's features whose registers the operating system saves. Without regard to
/// HALFTONE_CPU.
void read_features(CpuInfo& info);

/// Name of the Highway target that the loops run on here: "AVX3", "AVX2", ...
std::string simd_target();

/// Removes the features above `level` from `info`.
void limit(CpuInfo& info, CpuLevel level);

}  // namespace kernels::cpu
