#pragma once

#include <cuda_runtime.h>

#include <map>
#include <set>
#include <string>
#include <vector>

/// A fake CUDA runtime with the functions that the linked files call, and two GPUs without
/// contents. Records the calls and fails those that a test selects.
namespace kernels::test {

struct FakeCudaRuntime {
    std::vector<std::string> calls;               ///< the calls that tests examine, in order
    std::map<std::string, cudaError_t> answers;   ///< of calls that fail, each once
    std::vector<int> architectures{900};          ///< that the program has code for
    std::set<int> contexts;                       ///< ordinals of the GPUs made current so far
    int graphs = 0, executables = 0;              ///< alive
    int major = 9;                                ///< of the GPUs' compute capability
    std::vector<cudaLaunchAttribute> attributes;  ///< of the last launch that could have some
};
FakeCudaRuntime& fake_cuda();

/// Resets the fake for each test.
struct FreshFakeCuda {
    FreshFakeCuda() { fake_cuda() = {}; }
};

}  // namespace kernels::test
