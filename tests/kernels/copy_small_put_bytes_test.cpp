#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "needs_cuda.h"

namespace kernels::test {
namespace {

std::vector<unsigned char> counted_bytes(std::size_t size, unsigned first) {
    std::vector<unsigned char> out(size);
    for (std::size_t i = 0; i < size; ++i)
        out[i] = static_cast<unsigned char>((i * 7 + i / 251 + first) % 256);
    return out;
}

std::vector<unsigned char> read(const std::byte* device, std::size_t size) {
    std::vector<unsigned char> out(size);
    cuda::copy_to_host(out.data(), device, size, {});
    return out;
}

class PutBytes : public ::testing::Test {
protected:
    void SetUp() override {
        HALFTONE_NEEDS_CUDA();
        device_ = static_cast<std::byte*>(cuda::allocate(most));
    }
    void TearDown() override { cuda::release(device_); }
    static constexpr std::size_t most = 12000;
    std::byte* device_ = nullptr;
};

TEST_F(PutBytes, TakesAnyNumberAtOnceAndTouchesNothingBeside) {
    for (const std::size_t size : {0, 1, 255, 257, 3839, 3840, 3841, 7680, 11521}) {
        for (const std::size_t offset : {0, 1, 6}) {
            const auto before = counted_bytes(most, 91);
            cuda::copy_to_device(device_, before.data(), most, {});
            auto host = counted_bytes(size, 3);
            const auto values = host;
            cuda::put_bytes(device_ + offset, host.data(), size, {});
            std::fill(host.begin(), host.end(), 0);  // the bytes have been copied
            auto expected = before;
            std::copy(values.begin(), values.end(),
                      expected.begin() + static_cast<std::ptrdiff_t>(offset));
            EXPECT_EQ(read(device_, most), expected) << size << " bytes at " << offset;
        }
    }
}

TEST_F(PutBytes, StaysInARecordedGraph) {
    auto host = counted_bytes(5000, 17);
    const auto values = host;
    cuda::begin_capture({});
    cuda::put_bytes(device_, host.data(), host.size(), {});
    const auto graph = cuda::end_capture({});
    EXPECT_EQ(graph->nodes(), 2);
    std::fill(host.begin(), host.end(), 0);
    for (int again = 0; again < 2; ++again) {
        cuda::set_zero(device_, most, {});
        graph->launch({});
        EXPECT_EQ(read(device_, values.size()), values);
    }
}

}  // namespace
}  // namespace kernels::test
