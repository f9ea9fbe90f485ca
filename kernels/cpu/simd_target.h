#pragma once

#include <string>

namespace kernels::cpu {

/// Name of the Highway target that the loops run on here: "AVX3", "AVX2", ...
std::string simd_target();

}  // namespace kernels::cpu
