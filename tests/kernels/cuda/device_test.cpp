#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
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

}  // namespace
}  // namespace kernels::test
