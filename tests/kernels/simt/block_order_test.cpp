#include <gtest/gtest.h>

#include "kernels/roi_align.h"
#include "kernels/twins.h"
#include "simt/block.h"

// Kernels that add in a fixed order without atomics: the order of blocks and threads changes no
// bit.
namespace kernels::test::block_order {
namespace {

class BlockOrder : public ::testing::Test {
protected:
    void SetUp() override { configure(0, simt::ThreadOrder::forward); }
    void TearDown() override {
        simt::configure(simt::DeviceSettings{});
        simt::interleave_blocks(0);
    }

    static void configure(unsigned seed, simt::ThreadOrder order) {
        simt::configure(simt::DeviceSettings{.multiprocessors = 8, .order = order});
        simt::interleave_blocks(seed);
    }
};

/// The gradient of a map on which 12 RoIs lie over each other.
Buffer gradient_of_roi_align() {
    const RoiAlignShape shape{.images = 2,
                              .channels = 5,
                              .rois = 12,
                              .out_h = 3,
                              .out_w = 2,
                              .sampling_ratio = 2,
                              .aligned = false};
    Buffer rois = random_buffer(DType::f32, shape.rois * 5, 1, 5, 4);
    for (std::int64_t k = 0; k < shape.rois; ++k) rois.set(5 * k, static_cast<double>(k % 2));
    const DeviceBuffer places(rois),
        dy(random_buffer(DType::f32, shape.rois * 6 * shape.channels, 2)),
        dx(DType::f32, shape.images * 10 * 11 * shape.channels);
    const RoiMap map{dx.array().data, 10, 11, 0.9};
    cuda::roi_align_backward(std::span(&map, 1), dy, places, shape, {});
    return dx.host();
}

TEST_F(BlockOrder, ChangesNoBitOfTheGradientOfRoiAlign) {
    const Buffer expected = gradient_of_roi_align();
    configure(0, simt::ThreadOrder::backward);
    EXPECT_TRUE(same(gradient_of_roi_align(), expected));
#ifndef __SANITIZE_ADDRESS__
    for (const unsigned seed : {1u, 2u}) {
        configure(seed, simt::ThreadOrder::forward);
        EXPECT_TRUE(same(gradient_of_roi_align(), expected)) << "seed " << seed;
    }
#endif
}

}  // namespace
}  // namespace kernels::test::block_order
