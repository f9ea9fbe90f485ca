#include <gtest/gtest.h>

#include <thread>

#include "kernels/cuda_device.h"
#include "simt/device.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

const Device first{Device::Kind::cuda, 0}, second{Device::Kind::cuda, 1};

/// Runs on a thread that has not selected a device.
template <typename F>
void in_new_thread(const F& work) {
    std::thread(work).join();
}

TEST(DeviceScope, LeavesTheFirstGpuAloneOnAThreadThatHadChosenNone) {
    const std::int64_t choices = kernels::simt::device_choices(0);
    in_new_thread([] {
        {
            const DeviceScope scope(second);
            EXPECT_EQ(kernels::cuda::current_device(), 1);
        }
        EXPECT_EQ(kernels::cuda::chosen_device(), kernels::cuda::no_device);
        EXPECT_EQ(Tensor::full({3}, 2, DType::f32, second).values()[2], 2);
        const DeviceScope of_host(Device{});
    });
    EXPECT_EQ(kernels::simt::device_choices(0), choices);
}

TEST(DeviceScope, PutsTheThreadsDeviceBack) {
    in_new_thread([] {
        kernels::cuda::set_device(0);
        {
            const DeviceScope outer(second);
            {
                const DeviceScope inner(first);
                EXPECT_EQ(kernels::cuda::current_device(), 0);
            }
            EXPECT_EQ(kernels::cuda::current_device(), 1);
        }
        EXPECT_EQ(kernels::cuda::chosen_device(), 0);
    });
}

TEST(DeviceScope, AThreadThatChoseNoneComputesOnTheFirstAfterIt) {
    in_new_thread([] {
        { const DeviceScope scope(second); }
        void* data = kernels::cuda::allocate(64);
        EXPECT_EQ(kernels::cuda::chosen_device(), 0);
        kernels::cuda::release(data);
    });
}

}  // namespace
}  // namespace engine
