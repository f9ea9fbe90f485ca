#include <gtest/gtest.h>

#include <vector>

#include "cpu/conv2d_paths.h"
#include "cpu/dnnl_ops.h"
#include "kernels/conv2d.h"
#include "kernels/conv2d_on_cpu.h"
#include "kernels/parallel.h"
#include "kernels/support.h"
#include "kernels/targets.h"

// Loops for convolutions with one channel a group.
namespace kernels::test::conv {
namespace {

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

}  // namespace
}  // namespace kernels::test::conv
