#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/fake_cuda_runtime.h"

// The copies that count as waits of the host for the device.
namespace kernels::test {
namespace {

class CudaCopies : public testing::Test {
protected:
    template <typename F>
    std::int64_t waits_of(const F& copy) {
        const std::int64_t before = cuda::call_counts().synchronizations;
        copy();
        return cuda::call_counts().synchronizations - before;
    }
    const FreshFakeCuda fresh_;
    char device_[64];
    std::vector<char> pageable_ = std::vector<char>(64);
};

TEST_F(CudaCopies, FromAndToPinnedMemoryDoNotWait) {
    auto* pinned = static_cast<char*>(cuda::allocate_pinned(64));
    EXPECT_EQ(waits_of([&] { cuda::copy_to_device(device_, pinned, 64, {}); }), 0);
    EXPECT_EQ(waits_of([&] { cuda::copy_to_device(device_, pinned + 60, 4, {}); }), 0);
    EXPECT_EQ(waits_of([&] { cuda::copy_to_host(pinned, device_, 64, {}); }), 0);
    EXPECT_EQ(waits_of([&] { cuda::copy_to_device(device_, pinned + 60, 8, {}); }), 1)
        << "beyond its end";
    cuda::release_pinned(pinned);
}

TEST_F(CudaCopies, FromAndToOtherHostMemoryAreWaits) {
    EXPECT_EQ(waits_of([&] { cuda::copy_to_device(device_, pageable_.data(), 64, {}); }), 1);
    EXPECT_EQ(waits_of([&] { cuda::copy_to_host(pageable_.data(), device_, 64, {}); }), 1);
    EXPECT_EQ(waits_of([&] { cuda::copy_to_device(device_, pageable_.data(), 0, {}); }), 0)
        << "there is nothing to copy";
}

TEST_F(CudaCopies, OnTheDeviceDoNotWait) {
    EXPECT_EQ(waits_of([&] { cuda::copy_on_device(device_, device_ + 32, 32, {}); }), 0);
    EXPECT_EQ(waits_of([&] { cuda::set_zero(device_, 64, {}); }), 0);
}

}  // namespace
}  // namespace kernels::test
