#include <gtest/gtest.h>

#include <vector>

#include "kernels/conv2d.h"
#include "kernels/conv2d_on_cpu.h"
#include "kernels/conv2d_on_device.h"
#include "kernels/cuda_device.h"
#include "kernels/device_array.h"
#include "kernels/device_copy.h"
#include "kernels/support.h"

// How a convolution uses memory: orders of the weights, arrays that begin anywhere, empty ones, no
// allocation once its plan is there.
namespace kernels::test::conv {
namespace {

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
}  // namespace kernels::test::conv
