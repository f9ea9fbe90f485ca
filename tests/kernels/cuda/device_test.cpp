#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device.h"
#include "kernels/fake_cuda_runtime.h"

// The GPUs that a thread makes current in CUDA: each gets a context that is never freed.
namespace kernels::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Runs on a thread that has not selected a device.
template <typename F>
void in_new_thread(const F& work) {
    const FreshFakeCuda fresh;
    std::thread(work).join();
}

TEST(CudaThreadDevice, IsTheFirstOneWithTheFirstCallThatNeedsOne) {
    in_new_thread([] {
        EXPECT_EQ(cuda::current_device(), 0);
        EXPECT_EQ(cuda::chosen_device(), cuda::no_device);
        EXPECT_THAT(fake_cuda().contexts, IsEmpty());
        cuda::begin_capture({});
        EXPECT_EQ(cuda::chosen_device(), 0);
        EXPECT_THAT(fake_cuda().contexts, ElementsAre(0));
    });
}

TEST(CudaThreadDevice, CanBeNoneAgainWithoutWakingTheFirst) {
    in_new_thread([] {
        cuda::set_device(1);
        EXPECT_EQ(cuda::current_device(), 1);
        EXPECT_EQ(cuda::chosen_device(), 1);
        cuda::set_device(cuda::no_device);
        EXPECT_EQ(cuda::current_device(), 0);
        EXPECT_EQ(cuda::chosen_device(), cuda::no_device);
        EXPECT_THAT(fake_cuda().contexts, ElementsAre(1));
        cuda::begin_capture({});  // CUDA's own current device is still the other one
        EXPECT_THAT(fake_cuda().contexts, ElementsAre(0, 1));
    });
}

/// Devices found by a process that first asks the fake for them with these settings. The survey is
/// made once a process.
[[noreturn]] void exit_with_count(const std::vector<int>& architectures, cudaError_t of_first) {
    const FreshFakeCuda fresh;
    fake_cuda().architectures = architectures;
    if (of_first != cudaSuccess) fake_cuda().answers["cudaFuncGetAttributes"] = of_first;
    const int count = cuda::device_count();
    const bool explained = cuda::why_absent().empty() == (count > 0);
    const auto contexts = static_cast<int>(fake_cuda().contexts.size());
    const auto resets =
        std::count(fake_cuda().calls.begin(), fake_cuda().calls.end(), "cudaDeviceReset");
    std::_Exit(explained ? count + 10 * contexts + 50 * static_cast<int>(resets) : 255);
}

// GoogleTest runs suites named so before the others, in processes of their own.
TEST(CudaCodeDeathTest, IsLookedForOnTheDeviceOnlyWithoutMachineCodeForIt) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_with_count({900}, cudaSuccess), testing::ExitedWithCode(2), "")
        << "no context is created";
    EXPECT_EXIT(exit_with_count({800}, cudaSuccess), testing::ExitedWithCode(2 + 10 * 2), "")
        << "PTX that the driver compiles";
}

TEST(CudaCodeDeathTest, IsMissingOnTheDevicesWhoseKernelCannotBeLoaded) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const cudaError_t status :
         {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction,
          cudaErrorUnsupportedPtxVersion, cudaErrorJitCompilerNotFound})
        EXPECT_EXIT(exit_with_count({800}, status), testing::ExitedWithCode(1 + 10 * 2 + 50), "")
            << status << ": the second device alone remains";
}

TEST(CudaCodeDeathTest, IsTakenForGrantedWhereTheDeviceCannotBeAsked) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_with_count({800}, cudaErrorDevicesUnavailable),
                testing::ExitedWithCode(2 + 10 * 2), "");
}

}  // namespace
}  // namespace kernels::test
