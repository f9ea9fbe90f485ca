#include "kernels/scaler.h"

#include "kernels/device.h"
#include "kernels/device_array.h"

namespace kernels::test {
namespace {

/// Updates both twins from the same state for many steps, with overflows at the given ones.
void expect_same_scales(const ScaleUpdate& rule, float start, int every) {
    float scale = start;
    std::int32_t tracker = 0, hysteresis = rule.hysteresis;
    const DeviceValue<float> device_scale(scale), found(0);
    const DeviceValue<std::int32_t> device_tracker(0), device_hysteresis(hysteresis);
    for (int step = 1; step <= 40; ++step) {
        const float overflow = step % every == 0 ? 1.0f : 0.0f;
        const DeviceValue<float> flag(overflow);
        cpu::update_scale(&scale, &tracker, &hysteresis, &overflow, rule, {});
        cuda::update_scale(device_scale.get(), device_tracker.get(), device_hysteresis.get(),
                           flag.get(), rule, {});
        ASSERT_EQ(device_scale.host(), scale) << "step " << step;
        ASSERT_EQ(device_tracker.host(), tracker);
        ASSERT_EQ(device_hysteresis.host(), hysteresis);
    }
}

TEST(CudaScaler, MovesTheScaleAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    expect_same_scales({.growth_interval = 3}, 65536, 7);
    expect_same_scales({.growth_interval = 1}, 3e38f, 50);  // does not grow beyond f32
    expect_same_scales({.growth_interval = 2, .min_scale = 4, .max_scale = 64, .hysteresis = 2}, 8,
                       3);
}

TEST(CudaScaler, AdvancesOnlyCleanSteps) {
    HALFTONE_NEEDS_CUDA();
    const DeviceValue<std::int64_t> step(std::int64_t{1} << 40);
    const DeviceValue<float> clean(0), overflow(1);
    const std::vector<std::int64_t*> counts{step.get()};
    cuda::advance_step(counts, clean.get(), {});
    cuda::advance_step(counts, overflow.get(), {});
    cuda::advance_step(counts, nullptr, {});
    EXPECT_EQ(step.host(), (std::int64_t{1} << 40) + 2);
}

TEST(CudaScaler, AdvancesTheCountsThatItIsGivenAndNoOthers) {
    HALFTONE_NEEDS_CUDA();
    constexpr std::int64_t size = 1500;  // several launches
    const DeviceBuffer all{Buffer(DType::i64, size)};
    std::vector<std::int64_t*> counts;
    for (std::int64_t i = 0; i < size; ++i)
        if (i % 3 != 1) counts.push_back(all.as<std::int64_t>() + i);
    cuda::advance_step(counts, nullptr, {});
    cuda::advance_step({}, nullptr, {});
    Buffer host = all.host();
    for (std::int64_t i = 0; i < size; ++i)
        ASSERT_EQ(host.as<std::int64_t>()[i], i % 3 != 1 ? 1 : 0) << i;
}

TEST(CudaScaler, ClipsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    const double infinite = std::numeric_limits<double>::infinity();
    for (const double squares : {0.0, 1e-30, 4.0, 1e30, infinite, std::nan("")}) {
        for (const double max_norm : {1e-3, 1.0, 1e9}) {
            const float scale = 1024;
            float expected = -1;
            cpu::clip_coefficient(&expected, &squares, &scale, max_norm, {});
            const DeviceValue<double> sum(squares);
            const DeviceValue<float> clip, device_scale(scale);
            cuda::clip_coefficient(clip.get(), sum.get(), device_scale.get(), max_norm, {});
            EXPECT_EQ(clip.host(), expected) << squares << " " << max_norm;
        }
    }
}

}  // namespace
}  // namespace kernels::test
