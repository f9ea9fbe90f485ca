#include <gtest/gtest.h>

#include <string>

#include "kernels/conv2d.h"
#include "kernels/conv2d_on_cpu.h"
#include "kernels/conv2d_on_device.h"
#include "kernels/measured_choice.h"
#include "kernels/parallel.h"
#include "kernels/support.h"
#include "needs_cuda.h"

// Convolutions of every dtype and kind of shape.
namespace kernels::test::conv {
namespace {

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

TEST(CudaConv2dRace, AgreesWithDouble) {
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

}  // namespace
}  // namespace kernels::test::conv
