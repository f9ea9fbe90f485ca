#include "cuda/check.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cuda_device.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "kernels/fake_cuda_runtime.h"

// Which of CUDA's errors a device survives. Each in a process of its own: it is lost for good.
namespace kernels::test {
namespace {

/// 0: the device lives, 1: it is lost, and everything says so.
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

// By number: the last two are newer than the oldest run time that this is built with.
INSTANTIATE_TEST_SUITE_P(Errors, CudaCheckDeathTest,
                         testing::Values(std::pair<int, bool>{cudaErrorInvalidValue, false},
                                         std::pair<int, bool>{cudaErrorNotSupported, false},
                                         std::pair<int, bool>{cudaErrorIllegalAddress, true},
                                         std::pair<int, bool>{cudaErrorLaunchFailure, true},
                                         std::pair{226, true}, std::pair{721, true}),
                         [](const auto& error) { return std::to_string(error.param.first); });

}  // namespace
}  // namespace kernels::test
