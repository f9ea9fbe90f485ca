#pragma once

#include <vector>

namespace kernels::cuda {

/// The architectures that the program's kernels are compiled for: 900 is 9.0.
std::vector<int> compiled_architectures();

/// A kernel that is never launched, to ask CUDA whether the program has code for a device: it has
/// the code of all kernels or of none.
const void* code_probe();

}  // namespace kernels::cuda
