#pragma once

#include <cuda_runtime.h>

#include <map>
#include <set>
#include <string>
#include <vector>

/// A fake CUDA runtime with the functions that the linked files call: two cards without contents.
/// It records the calls, and fails those that a test selects.
namespace kernels::test {

struct FakeCudaRuntime {
    std::vector<std::string> calls;              ///< that a test looks at, in order
    std::map<std::string, cudaError_t> answers;  ///< of the calls that fail, each once
    std::set<int> contexts;                      ///< ordinals of cards that have been chosen
    int graphs = 0, executables = 0;             ///< that there are
};
FakeCudaRuntime& fake_cuda();

/// A fresh one for each test.
struct FreshFakeCuda {
    FreshFakeCuda() { fake_cuda() = {}; }
};

}  // namespace kernels::test
