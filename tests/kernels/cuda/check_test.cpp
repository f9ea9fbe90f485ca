#include "cuda/check.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cuda_device.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "kernels/fake_cuda_runtime.h"

// The CUDA errors that a device survives. Each is tested in a process of its own, since the device
// stays lost.
namespace kernels::test {
namespace {

/// Exit code 0: the device is usable; 1: it is lost, and every query says so.
[[noreturn]] void exit_after(cudaError_t status) {
    fake_cuda().answers["cudaStreamSynchronize"] = status;
    try {
        cuda::synchronize({});
        std::_Exit(2);
    } catch (const DeviceError&) {
    }
    const bool lost = !cuda::lost_to().empty();
    const bool told = lost == (cuda::device_count() == 0) &&
                      lost == (cuda::why_absent().find("the device failed") == 0);
    std::_Exit(told ? lost : 3);
}

class CudaCheckDeathTest : public testing::TestWithParam<std::pair<int, bool>> {
    const FreshFakeCuda fresh_;
};

TEST_P(CudaCheckDeathTest, LosesTheDeviceToTheErrorsThatItDoesNotSurvive) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto [number, lost] = GetParam();
    EXPECT_EXIT(exit_after(static_cast<cudaError_t>(number)), testing::ExitedWithCode(lost ? 1 : 0),
                "");
}

// By number, since the last two are newer than the oldest supported CUDA runtime.
INSTANTIATE_TEST_SUITE_P(Errors, CudaCheckDeathTest,
                         testing::Values(std::pair<int, bool>{cudaErrorInvalidValue, false},
                                         std::pair<int, bool>{cudaErrorNotSupported, false},
                                         std::pair<int, bool>{cudaErrorIllegalAddress, true},
                                         std::pair<int, bool>{cudaErrorLaunchFailure, true},
                                         std::pair{226, true}, std::pair{721, true}),
                         [](const auto& error) { return std::to_string(error.param.first); });

}  // namespace
}  // namespace kernels::test
