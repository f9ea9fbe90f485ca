#include <gtest/gtest.h>

#include "kernels/conv2d_problem.h"
#include "kernels/device_array.h"
#include "kernels/device_copy.h"

namespace kernels::test {
namespace {

using namespace conv;

template <typename A>
std::size_t bytes_of(const A& array) {
    return static_cast<std::size_t>(array.size) * size_of(array.dtype);
}
DeviceCopy there(const ConstArray& a) { return DeviceCopy(a.data, a.data ? bytes_of(a) : 0); }
ConstArray view(const DeviceCopy& copy, const ConstArray& a) {
    return {a.data ? copy.get() : nullptr, a.dtype, a.size};
}
Array view(const DeviceCopy& copy, const Array& a) {
    return {a.data ? copy.get() : nullptr, a.dtype, a.size};
}

/// The CUDA kernels on copies of the host's arrays.
constexpr Kernels on_device = {
    [](Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape, Stream s) {
        const DeviceCopy dy = there(y), dx = there(x), dw = there(w), db = there(bias);
        cuda::conv2d_forward(view(dy, y), view(dx, x), view(dw, w), view(db, bias), shape, s);
        dy.read(y.data);
    },
    [](Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape, Stream s) {
        const DeviceCopy to = there(dx), from = there(dy), weights = there(w);
        cuda::conv2d_data_gradient(view(to, dx), view(from, dy), view(weights, w), shape, s);
        to.read(dx.data);
    },
    [](Array dw, Array dbias, ConstArray dy, ConstArray x, const Conv2dShape& shape, Stream s) {
        const DeviceCopy to = there(dw), bias = there(dbias), from = there(dy), in = there(x);
        cuda::conv2d_weight_gradient(view(to, dw), view(bias, dbias), view(from, dy), view(in, x),
                                     shape, s);
        to.read(dw.data);
        if (dbias.data) bias.read(dbias.data);
    }};

void check(DType dtype, const Conv2dShape& shape) {
    SCOPED_TRACE(to_string(dtype, shape));
    Problem(dtype, shape).check(on_device);
}

TEST(CudaConv2d, AgreesWithDoubleForThePlainThreeByThree) {
    HALFTONE_NEEDS_CUDA();
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

TEST(CudaConv2d, AgreesWithDoubleForTheLayersOfLeNetAndAResNet) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        check(dtype,
              {.n = 2, .c = 1, .h = 28, .w = 28, .k = 6, .r = 5, .s = 5, .pad_h = 2, .pad_w = 2});
        check(dtype, {.n = 2, .c = 6, .h = 14, .w = 14, .k = 16, .r = 5, .s = 5});
        check(dtype, {.n = 1,
                      .c = 64,
                      .h = 6,
                      .w = 6,
                      .k = 128,
                      .r = 1,
                      .s = 1,
                      .stride_h = 2,
                      .stride_w = 2});
        check(dtype, {.n = 1,
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
        check(dtype, shape);
        shape.stride_h = 2;
        shape.stride_w = 3;
        shape.pad_h = 2;
        shape.pad_w = 1;
        check(dtype, shape);
        shape.dilation_h = 2;
        shape.dilation_w = 3;
        check(dtype, shape);
        shape.r = 2;
        shape.s = 4;
        check(dtype, shape);
        check(dtype,
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
            check(dtype, shape);
            shape.stride_h = shape.stride_w = 2;
            check(dtype, shape);
        }
}

TEST(CudaConv2d, AgreesWithDoubleForOneImageAndForOnePixel) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        check(dtype, {.n = 1, .c = 4, .h = 1, .w = 1, .k = 6, .r = 1, .s = 1});
        check(dtype, {.n = 1, .c = 4, .h = 3, .w = 3, .k = 6, .r = 3, .s = 3});
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
    // 256 + 1 + (1 - 2^-7): bf16 sums would stop at 256, and 257 would round to 256 before the
    // bias.
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
