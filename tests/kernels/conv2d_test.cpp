#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cpu/conv2d_depthwise.h"
#include "cpu/conv2d_scatter.h"
#include "cpu/conv2d_tiled.h"
#include "cpu/dnnl_ops.h"
#include "kernels/conv2d.h"
#include "kernels/conv2d_on_device.h"
#include "kernels/conv2d_problem.h"
#include "kernels/device_array.h"
#include "kernels/device_copy.h"
#include "kernels/measured_choice.h"
#include "kernels/parallel.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using namespace conv;

constexpr Kernels chosen = {cpu::conv2d_forward, cpu::conv2d_data_gradient,
                            cpu::conv2d_weight_gradient};
constexpr Kernels tiled = {
    [](Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape, Stream) {
        cpu::conv2d_forward_tiled(y, x, w, bias, shape);
    },
    [](Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape, Stream) {
        if (shape.stride_h == 1 && shape.stride_w == 1)
            cpu::conv2d_data_gradient_tiled(dx, dy, w, shape);
        else
            cpu::conv2d_data_gradient_scattered(dx, dy, w, shape);
    },
    [](Array dw, Array dbias, ConstArray dy, ConstArray x, const Conv2dShape& shape, Stream) {
        cpu::conv2d_weight_gradient_tiled(dw, dy, x, shape);
        if (dbias.data) cpu::conv2d_bias_gradient(dbias, dy);
    }};

constexpr Kernels depthwise = {
    [](Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape, Stream) {
        cpu::conv2d_forward_depthwise(y, x, w, bias, shape);
    },
    [](Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape, Stream) {
        cpu::conv2d_data_gradient_depthwise(dx, dy, w, shape);
    },
    [](Array dw, Array dbias, ConstArray dy, ConstArray x, const Conv2dShape& shape, Stream) {
        cpu::conv2d_weight_gradient_depthwise(dw, dy, x, shape);
        if (dbias.data) cpu::conv2d_bias_gradient(dbias, dy);
    }};

void check_scatter(const Problem& problem) {
    Buffer dx(problem.dtype, input_size(problem.shape));
    cpu::conv2d_data_gradient_scattered(dx, problem.dy, problem.w, problem.shape);
    expect_sums(dx, problem.dx_sums, "scattered dx");
}

/// Checks the implementation that is chosen, and our tiles with every instruction set.
void check(DType dtype, const Conv2dShape& shape) {
    SCOPED_TRACE(to_string(dtype, shape));
    const Problem problem(dtype, shape);
    problem.check(chosen);
    on_every_target([&] {
        problem.check(tiled);
        check_scatter(problem);
    });
}

TEST(Conv2d, AgreesWithDoubleForThePlainThreeByThree) {
    for (const DType dtype : floating)
        for (const std::int64_t channels : {1, 3, 8, 33})
            check(dtype, {.n = 2,
                          .c = channels,
                          .h = 7,
                          .w = 9,
                          .k = channels + 1,
                          .r = 3,
                          .s = 3,
                          .pad_h = 1,
                          .pad_w = 1});
}

TEST(Conv2d, AgreesWithDoubleForTheLayersOfLeNet) {
    for (const DType dtype : floating) {
        check(dtype,
              {.n = 3, .c = 1, .h = 28, .w = 28, .k = 6, .r = 5, .s = 5, .pad_h = 2, .pad_w = 2});
        check(dtype, {.n = 3, .c = 6, .h = 14, .w = 14, .k = 16, .r = 5, .s = 5});
    }
}

TEST(Conv2d, AgreesWithDoubleForTheLayersOfAResNet) {
    for (const DType dtype : floating) {
        check(dtype,
              {.n = 1, .c = 3, .h = 6, .w = 6, .k = 64, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1});
        check(dtype,
              {.n = 1, .c = 64, .h = 6, .w = 6, .k = 64, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1});
        check(dtype, {.n = 1,
                      .c = 64,
                      .h = 6,
                      .w = 6,
                      .k = 128,
                      .r = 3,
                      .s = 3,
                      .stride_h = 2,
                      .stride_w = 2,
                      .pad_h = 1,
                      .pad_w = 1});
        check(dtype, {.n = 1,
                      .c = 64,
                      .h = 6,
                      .w = 6,
                      .k = 128,
                      .r = 1,
                      .s = 1,
                      .stride_h = 2,
                      .stride_w = 2});
    }
}

TEST(Conv2d, AgreesWithDoubleForStridesPaddingAndDilation) {
    for (const DType dtype : floating)
        for (const std::int64_t channels : {2, 16}) {
            Conv2dShape shape{
                .n = 2, .c = channels, .h = 11, .w = 13, .k = channels, .r = 3, .s = 3};
            check(dtype, shape);
            shape.stride_h = 2;
            shape.stride_w = 3;
            check(dtype, shape);
            shape.pad_h = 2;
            shape.pad_w = 1;
            check(dtype, shape);
            shape.dilation_h = 2;
            check(dtype, shape);
            shape.dilation_w = 3;
            check(dtype, shape);
            shape.r = 2;
            shape.s = 4;
            check(dtype, shape);
            // The padding exceeds the window's reach: the data gradient discards rows.
            check(dtype, {.n = 1,
                          .c = channels,
                          .h = 4,
                          .w = 5,
                          .k = 3,
                          .r = 1,
                          .s = 2,
                          .pad_h = 2,
                          .pad_w = 3});
            // oneDNN has only reference code for its bf16 data gradient.
            check(dtype, {.n = 1,
                          .c = channels,
                          .h = 1,
                          .w = 1,
                          .k = 1,
                          .r = 2,
                          .s = 3,
                          .pad_h = 2,
                          .pad_w = 2});
        }
}

// A weight whose tap only meets padding has the gradient 0. Each shape follows others, whose
// results would remain in unwritten memory.
TEST(Conv2d, GivesZeroGradientsToTapsThatMeetPaddingOnly) {
    for (const DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f64}) {
        for (const std::int64_t c : {1, 3, 16}) {
            for (const std::int64_t k : {1, 16}) {
                for (const std::int64_t w : {1, 2}) {
                    for (const std::int64_t stride : {1, 3}) {
                        const Conv2dShape shape{2, c, 2, w, k, 2, 3, stride, stride, 1, 2};
                        check(dtype, shape);
                    }
                }
            }
        }
    }
}

TEST(Conv2d, AgreesWithDoubleForGroups) {
    for (const DType dtype : floating)
        for (const std::int64_t groups : {2, 4}) {
            Conv2dShape shape{.n = 2, .c = 8, .h = 6, .w = 7, .k = 16, .r = 3, .s = 3};
            shape.pad_h = shape.pad_w = 1;
            shape.groups = groups;
            check(dtype, shape);
            shape.stride_h = shape.stride_w = 2;
            check(dtype, shape);
            shape.c = shape.k = 64;
            check(dtype, shape);
            shape.groups = 64;  // one channel each
            check(dtype, shape);
        }
}

Conv2dShape depthwise_shape(std::int64_t images, std::int64_t channels, std::int64_t h,
                            std::int64_t w, std::int64_t pad) {
    return {.n = images,
            .c = channels,
            .h = h,
            .w = w,
            .k = channels,
            .r = 3,
            .s = 3,
            .pad_h = pad,
            .pad_w = pad,
            .groups = channels};
}

/// Depthwise loops with every instruction set.
void check_depthwise(const Conv2dShape& shape) {
    ASSERT_TRUE(cpu::is_depthwise(shape));
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        SCOPED_TRACE(to_string(dtype, shape));
        const Problem problem(dtype, shape);
        problem.check(chosen);
        on_every_target([&] { problem.check(depthwise); });
    }
}

TEST(Conv2d, AgreesWithDoubleForDepthwiseShapes) {
    // Less than a vector, vectors with a rest, several at once with a rest.
    for (const std::int64_t channels : {2, 5, 16, 33, 150}) {
        check_depthwise(depthwise_shape(3, channels, 7, 9, 0));
        Conv2dShape shape = depthwise_shape(3, channels, 7, 9, 1);
        check_depthwise(shape);
        shape.stride_h = 2;
        shape.stride_w = 3;
        check_depthwise(shape);
        shape.dilation_h = 2;
        shape.pad_w = 3;
        check_depthwise(shape);
        shape.s = 5;
        shape.pad_h = 4;
        check_depthwise(shape);
    }
    // More images than parts of the weight gradient's sums, and taps that only meet padding.
    check_depthwise(depthwise_shape(19, 70, 4, 4, 1));
    check_depthwise(depthwise_shape(1, 24, 1, 1, 1));
}

TEST(Conv2d, DepthwiseGradientsDoNotDependOnTheThreads) {
    Conv2dShape shape = depthwise_shape(5, 96, 28, 28, 1);
    shape.stride_h = shape.stride_w = 2;
    const Problem problem(DType::f16, shape);
    std::vector<std::vector<double>> found;
    for (const int threads : {1, 2, 3}) {
        cpu::set_threads(threads);
        problem.check(depthwise);
        Buffer dw(DType::f16, weight_size(shape));
        cpu::conv2d_weight_gradient_depthwise(dw, problem.dy, problem.x, shape);
        found.push_back(dw.values());
    }
    cpu::set_threads(cpu::hardware_threads());
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(found[2], found[0]);
}

TEST(Conv2d, SixteenBitDepthwiseShapesAreNotConvertedWhole) {
    const Conv2dShape shape = depthwise_shape(16, 96, 56, 56, 1);
    if (!cpu::dnnl_convolution_route(cpu::ConvDirection::forward, DType::f16, shape).empty())
        GTEST_SKIP() << "oneDNN computes in f16 here";
    EXPECT_STREQ(cpu::conv2d_route(DType::f16, shape), "depthwise");
}

TEST(Conv2d, AgreesWithDoubleForOneImageAndForOnePixel) {
    for (const DType dtype : floating) {
        check(dtype,
              {.n = 1, .c = 5, .h = 40, .w = 37, .k = 7, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1});
        check(dtype, {.n = 1, .c = 4, .h = 1, .w = 1, .k = 6, .r = 1, .s = 1});
        check(dtype, {.n = 1, .c = 4, .h = 3, .w = 3, .k = 6, .r = 3, .s = 3});
    }
}

TEST(Conv2d, AgreesWithDoubleForAnyThreadCount) {
    for (const DType dtype : floating) {
        const Problem awkward(dtype, {.n = 5, .c = 6, .h = 14, .w = 14, .k = 16, .r = 5, .s = 5});
        const Problem plain(dtype, {.n = 5, .c = 16, .h = 8, .w = 8, .k = 16, .r = 3, .s = 3});
        for (const int threads : {1, 2, 3}) {
            cpu::set_threads(threads);
            awkward.check(chosen);
            awkward.check(tiled);
            plain.check(chosen);
            plain.check(tiled);
        }
    }
    cpu::set_threads(cpu::hardware_threads());
}

TEST(Conv2d, GivesZeroGradientsForAnEmptyBatch) {
    for (const DType dtype : floating) {
        const Conv2dShape shape{.n = 0, .c = 4, .h = 5, .w = 5, .k = 3, .r = 3, .s = 3};
        Buffer none(dtype, 0);
        Buffer dw = random_buffer(dtype, weight_size(shape), 1), dbias = random_buffer(dtype, 3, 2);
        cpu::conv2d_forward(none, none, dw, {nullptr, dtype, 0}, shape, {});
        cpu::conv2d_data_gradient(none, none, dw, shape, {});
        cpu::conv2d_weight_gradient(dw, dbias, none, none, shape, {});
        for (const double value : dw.values()) ASSERT_EQ(value, 0);
        for (const double value : dbias.values()) ASSERT_EQ(value, 0);
    }
}

/// A 1 x 1 convolution of one pixel, which is the product of a row and a matrix, with 1 or 64
/// output channels.
double pixel(DType dtype, const std::vector<double>& x, const std::vector<double>& w,
             std::int64_t k) {
    const auto c = static_cast<std::int64_t>(x.size());
    std::vector<double> repeated;
    for (std::int64_t i = 0; i < k; ++i) repeated.insert(repeated.end(), w.begin(), w.end());
    Buffer y(dtype, k);
    cpu::conv2d_forward(y, Buffer(dtype, x), Buffer(dtype, repeated), {nullptr, dtype, 0},
                        {.n = 1, .c = c, .h = 1, .w = 1, .k = k, .r = 1, .s = 1}, {});
    for (std::int64_t i = 1; i < k; ++i) EXPECT_EQ(y.get(i), y.get(0));
    return y.get(0);
}

TEST(Conv2d, NeverTakesReferenceCodeForTheLayersOfOurModels) {
    const Conv2dShape layers[] = {
        {.n = 128, .c = 1, .h = 28, .w = 28, .k = 6, .r = 5, .s = 5, .pad_h = 2, .pad_w = 2},
        {.n = 128, .c = 6, .h = 14, .w = 14, .k = 16, .r = 5, .s = 5},
        {.n = 64, .c = 3, .h = 32, .w = 32, .k = 64, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1},
        {.n = 64, .c = 64, .h = 32, .w = 32, .k = 64, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1},
        {.n = 64,
         .c = 64,
         .h = 32,
         .w = 32,
         .k = 128,
         .r = 1,
         .s = 1,
         .stride_h = 2,
         .stride_w = 2},
        {.n = 64, .c = 512, .h = 4, .w = 4, .k = 512, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1}};
    for (const DType dtype : floating)
        for (const Conv2dShape& layer : layers) {
            const std::string route = cpu::conv2d_route(dtype, layer);
            EXPECT_FALSE(route.empty() || route.starts_with("ref") || route.starts_with("simple"))
                << to_string(dtype, layer) << " " << route;
        }
}

TEST(Conv2d, RoundsOnceFromFloatSums) {
    for (const std::int64_t k : {1, 64}) {
        EXPECT_EQ(pixel(DType::bf16, {256, 1, 1, 1}, {1, 1, 1, 1}, k), 260);
        EXPECT_EQ(pixel(DType::bf16, {1, 3 * 0x1p-8}, {1, 1}, k), 1.015625);
        EXPECT_EQ(pixel(DType::f16, {2048, 1}, {1, 1}, k), 2048);
        EXPECT_EQ(pixel(DType::f16, {2048, 3}, {1, 1}, k), 2052);
        EXPECT_EQ(pixel(DType::f16, {300}, {300}, k), inf);
        EXPECT_EQ(pixel(DType::f16, {300, -300}, {300, 299}, k), 300);
        EXPECT_EQ(pixel(DType::f16, {65519}, {1}, k), 65504);
        EXPECT_EQ(pixel(DType::f16, {0x1p-24}, {1}, k), 0x1p-24);
    }
}

TEST(Conv2d, RoundsAWeightGradientOnceFromFloatSums) {
    // 257 ones: a bf16 sum would stop at 256.
    for (const std::int64_t channels : {1, 64}) {
        const Conv2dShape shape{
            .n = 1, .c = channels, .h = 1, .w = 260, .k = channels, .r = 1, .s = 1};
        const std::vector<double> ones(static_cast<std::size_t>(input_size(shape)), 1.0);
        const Buffer x(DType::bf16, ones);
        Buffer dw(DType::bf16, weight_size(shape)), dbias(DType::bf16, channels);
        cpu::conv2d_weight_gradient(dw, dbias, x, x, shape, {});
        for (const double value : dw.values()) ASSERT_EQ(value, 260);
        for (const double value : dbias.values()) ASSERT_EQ(value, 260);
    }
}

TEST(Conv2d, PassesInfinitiesAndNaNsToTheWindowsThatHoldThem) {
    for (const DType dtype : floating)
        for (const std::int64_t channels : {2, 32}) {
            const Conv2dShape shape{.n = 1,
                                    .c = channels,
                                    .h = 8,
                                    .w = 8,
                                    .k = channels,
                                    .r = 3,
                                    .s = 3,
                                    .pad_h = 1,
                                    .pad_w = 1};
            Buffer x(dtype, std::vector<double>(static_cast<std::size_t>(input_size(shape)), 1.0));
            const Buffer w(dtype,
                           std::vector<double>(static_cast<std::size_t>(weight_size(shape)), 1.0));
            x.set((1 * 8 + 1) * channels, std::nan(""));
            x.set((6 * 8 + 6) * channels, inf);
            Buffer y(dtype, output_size(shape));
            cpu::conv2d_forward(y, x, w, {nullptr, dtype, 0}, shape, {});
            for (std::int64_t i = 0; i < y.size(); ++i) {
                const std::int64_t h = i / channels / 8, v = i / channels % 8;
                const double value = y.get(i);
                if (h <= 2 && v <= 2)
                    ASSERT_TRUE(std::isnan(value)) << i;
                else if (h >= 5 && v >= 5)
                    ASSERT_EQ(value, inf) << i;
                else
                    ASSERT_TRUE(std::isfinite(value)) << i;
            }
        }
}

TEST(Conv2d, HasTheSameBitsForWeightsInChannelsLast) {
    for (const DType dtype : floating)
        for (const Conv2dShape& shape : weight_orders) {
            SCOPED_TRACE(to_string(dtype, shape));
            expect_same_in_channels_last(chosen, Problem(dtype, shape));
        }
}

TEST(CudaConv2d, HasTheSameBitsForWeightsInChannelsLast) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const Conv2dShape& shape : weight_orders) {
            SCOPED_TRACE(to_string(dtype, shape));
            expect_same_in_channels_last(on_device, Problem(dtype, shape));
        }
}

void check_on_device(DType dtype, const Conv2dShape& shape) {
    SCOPED_TRACE(to_string(dtype, shape));
    Problem(dtype, shape).check(on_device);
}

TEST(CudaConv2d, AgreesWithDoubleForThePlainThreeByThree) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t channels : {1, 3, 8, 33})
            check_on_device(dtype, {.n = 2,
                                    .c = channels,
                                    .h = 7,
                                    .w = 9,
                                    .k = channels + 1,
                                    .r = 3,
                                    .s = 3,
                                    .pad_h = 1,
                                    .pad_w = 1});
}

TEST(CudaConv2d, AgreesWithDoubleByTheFastestEngine) {
    HALFTONE_NEEDS_CUDA();
    const MeasuredChoice measured;
    for (const DType dtype : floating)
        for (int call = 0; call < 2; ++call)  // the race, and its winner
            check_on_device(
                dtype,
                {.n = 3, .c = 16, .h = 9, .w = 8, .k = 24, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1});
}

TEST(CudaConv2d, AgreesWithDoubleForTheLayersOfLeNetAndAResNet) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        check_on_device(
            dtype,
            {.n = 2, .c = 1, .h = 28, .w = 28, .k = 6, .r = 5, .s = 5, .pad_h = 2, .pad_w = 2});
        check_on_device(dtype, {.n = 2, .c = 6, .h = 14, .w = 14, .k = 16, .r = 5, .s = 5});
        check_on_device(dtype, {.n = 1,
                                .c = 64,
                                .h = 6,
                                .w = 6,
                                .k = 128,
                                .r = 1,
                                .s = 1,
                                .stride_h = 2,
                                .stride_w = 2});
        check_on_device(dtype, {.n = 1,
                                .c = 32,
                                .h = 8,
                                .w = 8,
                                .k = 64,
                                .r = 3,
                                .s = 3,
                                .stride_h = 2,
                                .stride_w = 2,
                                .pad_h = 1,
                                .pad_w = 1});
    }
}

TEST(CudaConv2d, AgreesWithDoubleForStridesPaddingAndDilation) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        Conv2dShape shape{.n = 2, .c = 5, .h = 11, .w = 13, .k = 7, .r = 3, .s = 3};
        check_on_device(dtype, shape);
        shape.stride_h = 2;
        shape.stride_w = 3;
        shape.pad_h = 2;
        shape.pad_w = 1;
        check_on_device(dtype, shape);
        shape.dilation_h = 2;
        shape.dilation_w = 3;
        check_on_device(dtype, shape);
        shape.r = 2;
        shape.s = 4;
        check_on_device(dtype, shape);
        check_on_device(
            dtype,
            {.n = 1, .c = 4, .h = 4, .w = 5, .k = 3, .r = 1, .s = 2, .pad_h = 2, .pad_w = 3});
    }
}

TEST(CudaConv2d, AgreesWithDoubleForGroups) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t groups : {2, 4, 8}) {
            Conv2dShape shape{.n = 2, .c = 8, .h = 6, .w = 7, .k = 16, .r = 3, .s = 3};
            shape.pad_h = shape.pad_w = 1;
            shape.groups = groups;
            check_on_device(dtype, shape);
            shape.stride_h = shape.stride_w = 2;
            check_on_device(dtype, shape);
        }
}

TEST(CudaConv2d, AgreesWithDoubleForOneImageAndForOnePixel) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        check_on_device(dtype, {.n = 1, .c = 4, .h = 1, .w = 1, .k = 6, .r = 1, .s = 1});
        check_on_device(dtype, {.n = 1, .c = 4, .h = 3, .w = 3, .k = 6, .r = 3, .s = 3});
    }
}

TEST(CudaConv2d, GivesZeroGradientsForAnEmptyBatch) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        const Conv2dShape shape{.n = 0, .c = 4, .h = 5, .w = 5, .k = 3, .r = 3, .s = 3};
        const DeviceBuffer none(dtype, 0), dw(dtype, weight_size(shape)), dbias(dtype, 3);
        cuda::conv2d_forward(none, none, dw, {nullptr, dtype, 0}, shape, {});
        cuda::conv2d_data_gradient(none, none, dw, shape, {});
        cuda::conv2d_weight_gradient(dw, dbias, none, none, shape, {});
        for (const double value : dw.host().values()) ASSERT_EQ(value, 0);
        for (const double value : dbias.host().values()) ASSERT_EQ(value, 0);
    }
}

TEST(CudaConv2d, RoundsSixteenBitSumsAndBiasOnce) {
    HALFTONE_NEEDS_CUDA();
    // 256 + 1 + (1 - 2^-7): a bf16 sum would stop at 256, and 257 would round to 256 before the
    // bias is added.
    const Conv2dShape shape{.n = 1, .c = 2, .h = 1, .w = 1, .k = 1, .r = 1, .s = 1};
    const DeviceBuffer x{Buffer(DType::bf16, {256, 1})}, w{Buffer(DType::bf16, {1, 1})};
    const DeviceBuffer bias{Buffer(DType::bf16, {0.9921875})}, y(DType::bf16, 1);
    cuda::conv2d_forward(y, x, w, bias, shape, {});
    EXPECT_EQ(y.host().get(0), 258);
}

TEST(CudaConv2d, TakesArraysThatBeginAnywhere) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t pixels : {1, 3}) {
            const Conv2dShape shape{
                .n = 2, .c = 3, .h = 5, .w = 6, .k = 4, .r = pixels, .s = pixels};
            const Problem p(dtype, shape);
            const std::size_t offset = size_of(dtype);
            const auto copy = [&](const Buffer& b) {
                return DeviceCopy(b.bytes().data(), b.bytes().size(), offset);
            };
            const DeviceCopy x = copy(p.x), w = copy(p.w), dy = copy(p.dy), bias = copy(p.bias);
            const auto at = [&](const DeviceCopy& c, const Buffer& b) {
                return Array{c.get(), dtype, b.size()};
            };
            Buffer y = p.dy, dx = p.x, dw = p.w;
            const DeviceCopy on_y = copy(y), on_dx = copy(dx), on_dw = copy(dw);
            cuda::conv2d_forward(at(on_y, y), at(x, p.x), at(w, p.w), at(bias, p.bias), shape, {});
            cuda::conv2d_data_gradient(at(on_dx, dx), at(dy, p.dy), at(w, p.w), shape, {});
            cuda::conv2d_weight_gradient(at(on_dw, dw), {nullptr, dtype, 0}, at(dy, p.dy),
                                         at(x, p.x), shape, {});
            on_y.read(y.array().data);
            on_dx.read(dx.array().data);
            on_dw.read(dw.array().data);
            expect_sums(y, p.biased, "y with bias");
            expect_sums(dx, p.dx_sums, "dx");
            expect_sums(dw, p.dw_sums, "dw");
        }
}

TEST(CudaConv2d, WaitsForNothing) {
    HALFTONE_NEEDS_CUDA();
    const Conv2dShape shape{.n = 1, .c = 8, .h = 8, .w = 8, .k = 8, .r = 3, .s = 3};
    const DeviceBuffer x(random_buffer(DType::f16, input_size(shape), 1));
    const DeviceBuffer w(random_buffer(DType::f16, weight_size(shape), 2));
    const DeviceBuffer y(DType::f16, output_size(shape)), dw(DType::f16, weight_size(shape));
    const auto run = [&] {
        cuda::conv2d_forward(y, x, w, {nullptr, DType::f16, 0}, shape, {});
        cuda::conv2d_weight_gradient(dw, {nullptr, DType::f16, 0}, y, x, shape, {});
    };
    run();
    const cuda::CallCounts before = cuda::call_counts();
    run();
    const cuda::CallCounts after = cuda::call_counts();
    EXPECT_EQ(after.synchronizations, before.synchronizations);
    EXPECT_EQ(after.allocations, before.allocations);
}

}  // namespace
}  // namespace kernels::test
