// Convolutions of images of a few pixels, as products of windows with the weights; and which f32
// shapes our tiles take.
#include "cpu/conv2d_columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernels/conv2d_problem.h"

namespace kernels::test {
namespace {

using namespace conv;

constexpr Kernels chosen = {cpu::conv2d_forward, cpu::conv2d_data_gradient,
                            cpu::conv2d_weight_gradient};

Conv2dShape image(std::int64_t n, std::int64_t side, std::int64_t c, std::int64_t k) {
    return {.n = n, .c = c, .h = side, .w = side, .k = k, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1};
}

/// By columns where the processor's library has a product; some processors have none.
bool by_columns(const Problem& p, const Buffer& w, Buffer& y, bool with_bias) {
    const auto of = [](const Buffer& b) { return const_cast<void*>(b.view().data); };
    return cpu::conv2d_forward_columns(
        {of(p.x), of(w), y.array().data, with_bias ? p.bias.view().data : nullptr}, p.shape);
}

TEST(Conv2dColumns, AgreeWithDoubleForWindowsOfEveryKind) {
    Conv2dShape uneven = image(5, 4, 3, 5), strided = image(3, 8, 6, 8), spread = image(2, 5, 4, 7);
    uneven.w = 3;
    uneven.pad_h = 0;
    strided.stride_h = strided.stride_w = 2;
    spread.dilation_h = spread.dilation_w = 2;
    spread.pad_h = spread.pad_w = 2;
    Conv2dShape blocks = image(131, 2, 8, 16);  // more than one product, the last one shorter
    blocks.r = 2;
    for (const Conv2dShape& shape : {uneven, strided, spread, blocks}) {
        SCOPED_TRACE(to_string(DType::f32, shape));
        const Problem problem(DType::f32, shape);
        for (const bool with_bias : {false, true}) {
            Buffer y(DType::f32, output_size(shape));
            if (!by_columns(problem, problem.w, y, with_bias)) GTEST_SKIP() << "no oneDNN product";
            expect_sums(y, with_bias ? problem.biased : problem.y_sums, "y");
        }
    }
}

TEST(Conv2dColumns, AreChosenForManyChannelsAndFewPixels) {
    const Conv2dShape deep = image(4, 4, 64, 64);
    ASSERT_TRUE(cpu::columns_are_faster(deep));
    EXPECT_FALSE(cpu::columns_are_faster(image(4, 8, 64, 64)));
    EXPECT_FALSE(cpu::columns_are_faster(image(4, 4, 32, 64)));
    EXPECT_FALSE(cpu::columns_are_faster(image(1, 4, 64, 64))) << "16 rows do not fill a product";
    EXPECT_STREQ(cpu::conv2d_route(DType::f32, deep), "columns");
    for (const DType dtype : floating) Problem(dtype, deep).check(chosen);
}

TEST(Conv2dColumns, AnInfiniteWeightDoesNotMeetThePadding) {
    const Conv2dShape shape = image(4, 4, 64, 64);
    const Problem problem(DType::f32, shape);
    Buffer w = problem.w, y(DType::f32, output_size(shape));
    w.set(0, infinity);  // filter 0, channel 0, upper left tap
    EXPECT_FALSE(by_columns(problem, w, y, false));
    cpu::conv2d_forward(y, problem.x, w, {nullptr, DType::f32, 0}, shape, {});
    for (std::int64_t i = 0; i < y.size(); ++i) {
        const std::int64_t pixel = i / shape.k % 16;
        const bool padding = pixel < 4 || pixel % 4 == 0;  // the tap lies outside
        const bool met = i % shape.k == 0 && !padding;
        ASSERT_EQ(std::isfinite(y.get(i)), !met) << i;
    }
}

TEST(Conv2dTiles, TakeLargeImagesOf64ChannelsInF32) {
    const Conv2dShape shape = image(1, 16, 64, 64);
    EXPECT_STREQ(cpu::conv2d_route(DType::f32, shape), "tiled");
    Problem(DType::f32, shape).check(chosen);
}

TEST(Conv2dTiles, AnInfiniteWeightDoesNotMeetThePadding) {
    const Conv2dShape shape = image(1, 16, 64, 64);
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
}  // namespace kernels::test
