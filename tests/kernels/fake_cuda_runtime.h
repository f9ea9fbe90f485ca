#pragma once

#include <cuda_runtime.h>

#include <map>
#include <set>
#include <string>
#include <vector>

/// CUDA's run time, as far as the files that are linked with it call it: two cards, and nothing on
/// them. It says what was asked of it, and refuses what a test wants refused.
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
