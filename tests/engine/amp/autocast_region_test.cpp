#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "amp/autocast.h"
#include "engine/base/error.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

namespace engine {
namespace {

constexpr auto cpu = Device::Kind::cpu;
constexpr auto cuda = Device::Kind::cuda;

ErrorCode code_of(const std::string& device_type) {
    try {
        const AutocastRegion region(device_type, true);
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::io;
}

// Region state belongs to the host thread, so these tests name their devices explicitly.
Tensor ones(const Shape& shape, DType dtype = DType::f32) {
    return Tensor::full(shape, 1, dtype, Device{});
}

DType product_type() { return mm(ones({2, 2}), ones({2, 2})).dtype(); }

TEST(AutocastRegion, A1DefaultsAreBf16OnTheCpuAndF16OnCudaBothOff) {
    EXPECT_FALSE(autocast_enabled(cpu));
    EXPECT_FALSE(autocast_enabled(cuda));
    EXPECT_EQ(autocast_low(cpu), DType::bf16);
    EXPECT_EQ(autocast_low(cuda), DType::f16);
    EXPECT_TRUE(autocast_state().cache_enabled);
    EXPECT_EQ(autocast_state().depth, 0);
}

TEST(AutocastRegion, A6ATypeThatTheDeviceCannotTakeIsAWarningAndAnOffRegion) {
    EXPECT_EQ(AutocastRegion(cpu, false, DType::f32).warning(), "");
    for (const DType dtype : {DType::f32, DType::f64, DType::i64}) {
        const AutocastRegion region(cpu, true, dtype);
        EXPECT_NE(region.warning().find(name(dtype)), std::string::npos) << region.warning();
        EXPECT_FALSE(region.enabled());
    }
    EXPECT_EQ(AutocastRegion(cpu, true, DType::f16).warning(), "");
}

TEST(AutocastRegion, A7AnUnknownDeviceAndOneWithAnIndexAreErrorsOfTheirKinds) {
    EXPECT_EQ(code_of("tpu"), ErrorCode::device);
    EXPECT_EQ(code_of("cpu:0"), ErrorCode::value);
    EXPECT_EQ(code_of("cuda:1"), ErrorCode::value);
}

TEST(AutocastRegion, M3AnExceptionInsideLeavesEverythingAsItWas) {
    Tensor w = ones({2, 2});
    w.set_requires_grad(true);
    try {
        const auto inside = AutocastRegion(cpu, true, DType::f16, false).enter();
        const auto nested = AutocastRegion(cpu, true, DType::bf16, true).enter();
        mm(ones({2, 2}), w);
        EXPECT_EQ(autocast_cache_size(), 1u);
        throw std::runtime_error("stop");
    } catch (const std::runtime_error&) {
    }
    EXPECT_FALSE(autocast_enabled(cpu));
    EXPECT_EQ(autocast_low(cpu), DType::bf16);
    EXPECT_TRUE(autocast_state().cache_enabled);
    EXPECT_EQ(autocast_state().depth, 0);
    EXPECT_EQ(autocast_cache_size(), 0u);
}

TEST(AutocastRegion, M4ARegionWithoutATypeTakesTheOneCurrentWhenItIsMade) {
    std::optional<AutocastRegion> later;
    {
        const auto outer = AutocastRegion(cpu, true, DType::f16).enter();
        later.emplace(cpu);
        const auto nested = AutocastRegion(cpu).enter();
        EXPECT_EQ(autocast_low(cpu), DType::f16);
    }
    EXPECT_EQ(autocast_low(cpu), DType::bf16);
    const auto entered = later->enter();
    EXPECT_EQ(autocast_low(cpu), DType::f16);
    EXPECT_EQ(product_type(), DType::f16);
}

TEST(AutocastRegion, M4AThreadStartsFromTheDefaults) {
    const auto outer = AutocastRegion(cpu, true, DType::f16, false).enter();
    std::thread([] {
        EXPECT_FALSE(autocast_enabled(cpu));
        EXPECT_EQ(autocast_low(cpu), DType::bf16);
        EXPECT_TRUE(autocast_state().cache_enabled);
        EXPECT_EQ(autocast_state().depth, 0);
    }).join();
}

TEST(AutocastRegion, OneRegionEnteredTwiceNestedRestoresCorrectly) {
    const AutocastRegion region(cpu, true, DType::f16);
    {
        const auto first = region.enter();
        {
            const auto second = region.enter();
            EXPECT_EQ(autocast_state().depth, 2);
        }
        EXPECT_TRUE(autocast_enabled(cpu));
    }
    EXPECT_FALSE(autocast_enabled(cpu));
    EXPECT_EQ(autocast_state().depth, 0);
}

TEST(AutocastRegion, AroundAFunctionEntersOnEachCallAndLeavesOnReturnAndOnAnException) {
    const AutocastRegion region(cpu, true, DType::f16);
    int calls = 0;
    const auto decorated = region.around([&](const Tensor& x, bool fail) {
        EXPECT_TRUE(autocast_enabled(cpu));
        ++calls;
        if (fail) throw std::runtime_error("inside");
        return mm(x, x);
    });
    const Tensor x = Tensor::full({2, 2}, 1, DType::f32, Device{});
    for (int i = 0; i < 2; ++i) EXPECT_EQ(decorated(x, false).dtype(), DType::f16);
    EXPECT_FALSE(autocast_enabled(cpu));
    EXPECT_THROW(decorated(x, true), std::runtime_error);
    EXPECT_FALSE(autocast_enabled(cpu));
    EXPECT_EQ(autocast_state().depth, 0);
    EXPECT_EQ(calls, 3);
}

TEST(AutocastRegion, AnOffRegionCountsForTheDepthAndSetsItsType) {
    const auto off = AutocastRegion(cpu, false, DType::f16).enter();
    EXPECT_EQ(autocast_state().depth, 1);
    EXPECT_EQ(autocast_low(cpu), DType::f16);
    EXPECT_EQ(product_type(), DType::f32);
}

TEST(AutocastRegion, RegionsOfDifferentDevicesAreIndependent) {
    AutocastState state;
    state.cuda.enabled = true;
    const AutocastSnapshot only_cuda(state);
    EXPECT_EQ(product_type(), DType::f32);
    // A20: inside a CUDA region, ops on CPU tensors run as if there were no region.
    const Tensor joined = cat({ones({2}, DType::f16), ones({2})}, 0);
    EXPECT_EQ(joined.dtype(), DType::f32);
}

TEST(AutocastRegion, ACudaRegionWithoutCudaIsAWarningAndOff) {
    const AutocastRegion region(cuda, true);
    if (region.enabled()) GTEST_SKIP() << "this machine has CUDA";
    EXPECT_NE(region.warning().find("CUDA"), std::string::npos);
}

TEST(AutocastRegion, A25AnOffRegionInsideRunsInTheTypesGiven) {
    const auto outer = AutocastRegion(cpu, true, DType::f16).enter();
    const Tensor w = ones({2, 2});
    const Tensor low = mm(w, w);
    EXPECT_EQ(low.dtype(), DType::f16);
    {
        const auto off = AutocastRegion(cpu, false).enter();
        EXPECT_THROW(mm(low, w), Error);
        EXPECT_EQ(mm(to(low, DType::f32), w).dtype(), DType::f32);
    }
    EXPECT_EQ(mm(low, w).dtype(), DType::f16);
}

}  // namespace
}  // namespace engine
