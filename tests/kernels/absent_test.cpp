#include <gtest/gtest.h>

#include <string>

#include "kernels/device.h"
#include "kernels/device_error.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace kernels {
namespace {

TEST(CudaAbsent, SaysSoInEveryWay) {
    if (cuda::built()) GTEST_SKIP() << "this build has the CUDA backend";
    EXPECT_EQ(cuda::device_count(), 0);
    EXPECT_FALSE(cuda::why_absent().empty());
    float value = 1;
    const Array array{&value, DType::f32, 1};
    try {
        cuda::reduce(array, array, 1, 1, 1, ReduceOp::sum, {});
        FAIL() << "ran without CUDA";
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("no CUDA backend"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("reduce"), std::string::npos);
    }
    EXPECT_THROW(cuda::fill(array, 0, {}), DeviceError);
}

}  // namespace
}  // namespace kernels
