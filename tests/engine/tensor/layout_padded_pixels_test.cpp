#include "tensor/layout.h"

#include <gtest/gtest.h>

#include "ops/shape/view.h"

namespace engine {
namespace {

TEST(PaddedPixels, LieAPitchApartAndAreZeros) {
    const Tensor x = empty_padded_pixels({2, 3, 4, 5}, DType::f16, default_device(), 8);
    EXPECT_EQ(x.shape(), (Shape{2, 3, 4, 5}));
    EXPECT_EQ(x.strides(), (Strides{4 * 5 * 8, 1, 5 * 8, 8}));
    EXPECT_EQ(pixel_pitch(x), 8);
    EXPECT_EQ(pixel_pitch(x.detach()), 8);
    EXPECT_FALSE(x.is_channels_last());
    const Tensor all = view_of(x, {2 * 4 * 5 * 8}, {1}, 0);
    EXPECT_EQ(all.values(), std::vector<double>(2 * 4 * 5 * 8));
}

TEST(PaddedPixels, AreReadAsAViewOfTheirChannels) {
    const Tensor x = empty_padded_pixels({1, 3, 1, 2}, DType::f32, default_device(), 8);
    copy_into(x, Tensor::of({1, 2, 3, 4, 5, 6}, {1, 3, 1, 2}));
    EXPECT_EQ(x.values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(in_layout(x, Layout::channels_last).values(), x.values());
    const Tensor all = view_of(x, {16}, {1}, 0);
    EXPECT_EQ(all.values(), (std::vector<double>{1, 3, 5, 0, 0, 0, 0, 0, 2, 4, 6, 0, 0, 0, 0, 0}));
}

TEST(PaddedPixels, AreNotViewsOfAPartNorOtherTensors) {
    const Tensor x = empty_padded_pixels({2, 3, 4, 5}, DType::f16, default_device(), 8);
    EXPECT_EQ(pixel_pitch(narrow(x, 1, 0, 2)), 0) << "its third channel is not 0";
    EXPECT_EQ(pixel_pitch(narrow(x, 3, 0, 4)), 0);
    EXPECT_EQ(pixel_pitch(narrow(x, 0, 1, 1)), 0);
    EXPECT_EQ(pixel_pitch(reshape(x, {6, 20})), 0);
    EXPECT_EQ(pixel_pitch(in_layout(x, Layout::channels_last)), 0);
    EXPECT_EQ(pixel_pitch(Tensor::zeros({2, 3, 4, 5}, DType::f16)), 0);
}

}  // namespace
}  // namespace engine
