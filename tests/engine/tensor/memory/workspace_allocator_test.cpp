#include "tensor/memory/workspace_allocator.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/cuda_libraries.h"
#include "kernels/gemm.h"

namespace engine {
namespace {

/// A matrix product in plain device memory. It needs scratch before any tensor has allocated
/// memory.
void multiply() {
    constexpr std::int64_t side = 8;
    constexpr std::size_t bytes = side * side * sizeof(float);
    std::vector<float> ones(side * side, 1), out(side * side);
    float* a = static_cast<float*>(kernels::cuda::allocate(bytes));
    float* c = static_cast<float*>(kernels::cuda::allocate(bytes));
    kernels::cuda::copy_to_device(a, ones.data(), bytes, {});
    const kernels::ConstMatrix in{a, kernels::DType::f32, side, side, side};
    kernels::cuda::gemm({c, kernels::DType::f32, side, side, side}, in, in, {}, {});
    kernels::cuda::copy_to_host(out.data(), c, bytes, {});
    if (out[5] != side || kernels::cuda::workspace_bytes() == 0) std::_Exit(2);
}

// Runs in a process of its own, in which no cache exists yet: the cache is created while the
// scratch's lock is held.
TEST(LibraryScratchDeathTest, CanBeTheFirstThatAnybodyAsksACacheFor) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            alarm(20);  // a deadlock would wait forever
            use_cache_for_workspaces();
            multiply();
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace engine
