#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <type_traits>

#include "cuda_absent/kernel_list.h"
#include "kernels/device.h"
#include "kernels/device_error.h"

namespace kernels {
namespace {

template <class T>
auto zero() {
    using Value = std::remove_cvref_t<T>;
    return std::bit_cast<Value>(std::array<std::byte, sizeof(Value)>{});
}

template <class Result, class... Arguments>
std::string error_of(Result (*kernel)(Arguments...)) {
    try {
        kernel(zero<Arguments>()...);
    } catch (const DeviceError& error) {
        return error.what();
    }
    return "no error";
}

TEST(CudaAbsent, SaysSoInEveryWay) {
    EXPECT_FALSE(cuda::built());
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

TEST(CudaAbsent, ThrowsFromEveryKernelWithItsName) {
    const std::string text = "this build has no CUDA backend, so it cannot run ";
#define HALFTONE_EXPECT_ABSENT(name) EXPECT_EQ(error_of(cuda::name), text + #name);
    HALFTONE_EACH_CUDA_KERNEL(HALFTONE_EXPECT_ABSENT)
#undef HALFTONE_EXPECT_ABSENT
}

}  // namespace
}  // namespace kernels
