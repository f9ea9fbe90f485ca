// Convolutions of images of a few pixels, each pixel by itself; and which f32 shapes our tiles
// take.
#include "cpu/conv2d_paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/conv2d_on_cpu.h"
#include "kernels/parallel.h"

namespace kernels::test::conv {
namespace {

Conv2dShape image(std::int64_t n, std::int64_t side, std::int64_t c, std::int64_t k) {
    return {.n = n, .c = c, .h = side, .w = side, .k = k, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1};
}

const float* of(const Buffer& b) { return static_cast<const float*>(b.view().data); }

void expect_pixels_forward(const Problem& p) {
    for (const bool with_bias : {false, true}) {
        Buffer y(DType::f32, output_size(p.shape));
        cpu::conv2d_forward_pixels(y.as<float>(), of(p.x), of(p.w),
                                   with_bias ? of(p.bias) : nullptr, p.shape);
        expect_sums(y, with_bias ? p.biased : p.y_sums, "y");
    }
}

void expect_data_gradient(const Problem& p) {
    Buffer dx(DType::f32, input_size(p.shape));
    cpu::conv2d_data_gradient_pixels(dx.as<float>(), of(p.dy), of(p.w), p.shape);
    expect_sums(dx, p.dx_sums, "dx");
}

void expect_weight_gradient(const Problem& p) {
    Buffer dw(DType::f32, weight_size(p.shape));
    cpu::conv2d_weight_gradient_pixels(dw.as<float>(), of(p.dy), of(p.x), p.shape);
    expect_sums(dw, p.dw_sums, "dw");
}

/// Channels come in panels of 32 on one side, images in tiles of up to 12.
std::vector<Conv2dShape> without_stride() {
    Conv2dShape uneven = image(5, 4, 64, 32), spread = image(13, 5, 32, 64);
    uneven.w = 3;
    uneven.pad_h = 0;
    spread.dilation_h = spread.dilation_w = 2;
    spread.pad_h = spread.pad_w = 2;
    Conv2dShape even_window = image(2, 3, 32, 32);
    even_window.r = 2;
    even_window.s = 4;
    even_window.pad_w = 2;
    Conv2dShape one_pixel = image(3, 1, 32, 32);
    return {image(8, 4, 64, 64), image(25, 2, 32, 32), uneven, spread, even_window, one_pixel};
}

TEST(Conv2dPixels, AgreeWithDoubleForWindowsOfEveryKind) {
    for (const Conv2dShape& shape : without_stride()) {
        SCOPED_TRACE(to_string(DType::f32, shape));
        const Problem problem(DType::f32, shape);
        expect_pixels_forward(problem);
        expect_data_gradient(problem);
        expect_weight_gradient(problem);
    }
}

// More terms than one f32 sum takes.
TEST(Conv2dPixels, AgreeWithDoubleForWeightGradientsOfManyImages) {
    expect_weight_gradient(Problem(DType::f32, image(140, 4, 13, 32)));
}

TEST(Conv2dPixels, AgreeWithDoubleForStridesAndInputChannelsOfAnyNumber) {
    Conv2dShape strided = image(9, 8, 6, 32), uneven = image(2, 7, 5, 64);
    strided.stride_h = strided.stride_w = 2;
    uneven.stride_h = 3;
    uneven.stride_w = 2;
    uneven.pad_w = 2;
    for (const Conv2dShape& shape : {strided, uneven}) {
        SCOPED_TRACE(to_string(DType::f32, shape));
        const Problem problem(DType::f32, shape);
        expect_pixels_forward(problem);
        expect_weight_gradient(problem);
    }
}

// The window lies in the padding as a whole.
TEST(Conv2dPixels, GiveTheBiasWhereAWindowMeetsNoPixel) {
    const Conv2dShape shape{
        .n = 2, .c = 4, .h = 2, .w = 1, .k = 32, .r = 2, .s = 1, .pad_h = 3, .pad_w = 1};
    const Problem problem(DType::f32, shape);
    expect_pixels_forward(problem);
    expect_weight_gradient(problem);
}

TEST(Conv2dPixels, HaveTheSameBitsForAnyThreadCount) {
    const Problem problem(DType::f32, image(30, 4, 64, 96));
    std::vector<std::vector<unsigned char>> ys, dxs, dws;
    for (const int threads : {1, 2, 3}) {
        cpu::set_threads(threads);
        Buffer y(DType::f32, output_size(problem.shape)), dx(DType::f32, input_size(problem.shape));
        cpu::conv2d_forward_pixels(y.as<float>(), of(problem.x), of(problem.w), nullptr,
                                   problem.shape);
        cpu::conv2d_data_gradient_pixels(dx.as<float>(), of(problem.dy), of(problem.w),
                                         problem.shape);
        Buffer dw(DType::f32, weight_size(problem.shape));
        cpu::conv2d_weight_gradient_pixels(dw.as<float>(), of(problem.dy), of(problem.x),
                                           problem.shape);
        ys.push_back(y.bytes());
        dxs.push_back(dx.bytes());
        dws.push_back(dw.bytes());
    }
    cpu::set_threads(cpu::hardware_threads());
    EXPECT_EQ(ys[1], ys[0]);
    EXPECT_EQ(ys[2], ys[0]);
    EXPECT_EQ(dxs[1], dxs[0]);
    EXPECT_EQ(dxs[2], dxs[0]);
    EXPECT_EQ(dws[1], dws[0]);
    EXPECT_EQ(dws[2], dws[0]);
}

TEST(Conv2dPixels, AreChosenForManyChannelsAndFewPixels) {
    constexpr auto forward = cpu::ConvDirection::forward, back = cpu::ConvDirection::data_gradient;
    constexpr auto weights = cpu::ConvDirection::weight_gradient;
    const Conv2dShape deep = image(8, 4, 64, 64);
    EXPECT_TRUE(cpu::pixels_are_faster(forward, deep));
    EXPECT_TRUE(cpu::pixels_are_faster(back, deep));
    EXPECT_TRUE(cpu::pixels_are_faster(weights, deep));
    EXPECT_FALSE(cpu::pixels_are_faster(forward, image(8, 9, 64, 64)));
    EXPECT_FALSE(cpu::pixels_are_faster(forward, image(8, 4, 32, 64)));
    EXPECT_FALSE(cpu::pixels_are_faster(back, image(8, 4, 32, 64))) << "a panel is half of it";
    EXPECT_FALSE(cpu::pixels_are_faster(forward, image(7, 4, 64, 64)));
    Conv2dShape strided = deep;
    strided.stride_h = strided.stride_w = 2;
    EXPECT_TRUE(cpu::pixels_are_faster(forward, strided));
    EXPECT_FALSE(cpu::pixels_are_faster(back, strided));
    EXPECT_TRUE(cpu::pixels_are_faster(weights, strided));
    strided.h = strided.w = 16;
    EXPECT_TRUE(cpu::pixels_are_faster(forward, strided));
    EXPECT_FALSE(cpu::pixels_are_faster(weights, strided));
    EXPECT_STREQ(cpu::conv2d_route(DType::f32, deep), "pixels");
    for (const DType dtype : floating) Problem(dtype, deep).check(chosen);
}

TEST(Conv2dPixels, AnInfiniteWeightDoesNotMeetThePadding) {
    const Conv2dShape shape = image(8, 4, 64, 64);
    const Problem problem(DType::f32, shape);
    Buffer w = problem.w, y(DType::f32, output_size(shape)), dx(DType::f32, input_size(shape));
    w.set(0, infinity);  // filter 0, channel 0, upper left tap
    cpu::conv2d_forward(y, problem.x, w, {nullptr, DType::f32, 0}, shape, {});
    cpu::conv2d_data_gradient(dx, problem.dy, w, shape, {});
    for (std::int64_t i = 0; i < y.size(); ++i) {
        const std::int64_t pixel = i / 64 % 16, row = pixel / 4, column = pixel % 4;
        ASSERT_EQ(std::isfinite(y.get(i)), i % 64 != 0 || row == 0 || column == 0) << i;
        ASSERT_EQ(std::isfinite(dx.get(i)), i % 64 != 0 || row == 3 || column == 3) << i;
    }
}

TEST(Conv2dTiles, TakeLargeImagesOf64ChannelsInF32) {
    const Conv2dShape shape = image(1, 16, 64, 64);
    EXPECT_STREQ(cpu::conv2d_route(DType::f32, shape), "tiled");
    Problem(DType::f32, shape).check(chosen);
}

TEST(Conv2dTiles, AnInfiniteWeightDoesNotMeetThePadding) {
    const Conv2dShape shape = image(1, 16, 64, 64);
    const std::string library =
        cpu::dnnl_convolution_route(cpu::ConvDirection::forward, DType::f32, shape);
    if (library.find("gemm") != std::string::npos)  // on ARM
        GTEST_SKIP() << library << " of oneDNN multiplies the padding";
    const Problem problem(DType::f32, shape);
    Buffer w = problem.w, y(DType::f32, output_size(shape)), dx(DType::f32, input_size(shape));
    w.set(0, infinity);
    cpu::conv2d_forward(y, problem.x, w, {nullptr, DType::f32, 0}, shape, {});
    cpu::conv2d_data_gradient(dx, problem.dy, w, shape, {});
    for (std::int64_t i = 0; i < y.size(); ++i) {
        const std::int64_t pixel = i / 64, row = pixel / 16, column = pixel % 16;
        ASSERT_EQ(std::isfinite(y.get(i)), i % 64 != 0 || row == 0 || column == 0) << i;
        ASSERT_EQ(std::isfinite(dx.get(i)), i % 64 != 0 || row == 15 || column == 15) << i;
    }
}

}  // namespace
}  // namespace kernels::test::conv
