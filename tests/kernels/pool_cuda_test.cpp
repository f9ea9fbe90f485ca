#include <gtest/gtest.h>

#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/device_error.h"
#include "kernels/pool.h"
#include "kernels/sum_tolerance.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

std::int64_t output_size(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                         std::int64_t pad, std::int64_t dilation) {
    return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

Pool2dShape shape_of(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                     std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                     std::int64_t dilation = 1, bool count_pad = true) {
    return {n,
            c,
            h,
            w,
            output_size(h, kernel, stride, pad, dilation),
            output_size(w, kernel, stride, pad, dilation),
            kernel,
            kernel,
            stride,
            stride,
            pad,
            pad,
            dilation,
            dilation,
            count_pad};
}

const std::vector<Pool2dShape> fixed_shapes = {
    shape_of(2, 8, 8, 6, 2, 2, 0),
    shape_of(1, 3, 7, 9, 3, 2, 1),
    shape_of(2, 16, 9, 9, 3, 1, 1, 1, false),
    shape_of(1, 5, 11, 10, 2, 3, 1),
    shape_of(1, 8, 12, 13, 3, 2, 1, 2),
    shape_of(1, 2, 12, 12, 3, 2, 1, 3, false),
    shape_of(1, 40, 5, 3, 5, 5, 2),
    shape_of(0, 8, 4, 4, 2, 2, 0),
    shape_of(3, 1, 1, 1, 1, 1, 0),
    shape_of(1, 300, 4, 4, 2, 2, 0),
};

Pool2dShape adaptive(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                     std::int64_t oh, std::int64_t ow) {
    return {n, c, h, w, oh, ow, 0, 0, 0, 0};
}
const std::vector<Pool2dShape> adaptive_shapes = {
    adaptive(2, 16, 7, 7, 1, 1), adaptive(1, 3, 7, 5, 3, 4), adaptive(2, 8, 4, 4, 4, 4),
    adaptive(1, 5, 3, 2, 5, 7),  adaptive(0, 8, 4, 4, 1, 1),
};

/// Max pooling windows: of given sizes, and adaptive.
std::vector<Pool2dShape> max_shapes() {
    std::vector<Pool2dShape> shapes = fixed_shapes;
    for (Pool2dShape s : adaptive_shapes) {
        s.adaptive = true;
        shapes.push_back(s);
    }
    return shapes;
}
/// Average pooling windows: of given sizes, with their count and with a divisor.
std::vector<Pool2dShape> average_shapes() {
    std::vector<Pool2dShape> shapes = fixed_shapes;
    for (Pool2dShape s : fixed_shapes) {
        s.divisor = 7;
        shapes.push_back(s);
    }
    return shapes;
}

std::int64_t in_size(const Pool2dShape& s) { return s.n * s.h * s.w * s.c; }
std::int64_t out_size(const Pool2dShape& s) { return s.n * s.oh * s.ow * s.c; }

/// Few distinct values, so that windows contain their largest twice; sometimes NaN and infinities.
Buffer inputs(DType dtype, std::int64_t size) {
    Buffer x = random_buffer(dtype, size, 1, 0, 2);
    for (std::int64_t i = 0; i < size; ++i) x.set(i, std::nearbyint(x.get(i)));
    for (std::int64_t i = 0; i < size; i += 29)
        x.set(i, i % 3 == 0 ? std::nan("") : i % 3 == 1 ? HUGE_VAL : -HUGE_VAL);
    return x;
}

/// Expects the same values; NaN equals NaN, and -0 equals 0.
void expect_same_values(const Buffer& actual, const Buffer& expected) {
    for (std::int64_t i = 0; i < expected.size(); ++i) {
        const double a = actual.get(i), e = expected.get(i);
        ASSERT_TRUE(a == e || (std::isnan(a) && std::isnan(e))) << a << " for " << e << " at " << i;
    }
}
void expect_near_sums(const Buffer& actual, const Buffer& expected, std::int64_t terms,
                      double magnitude) {
    for (std::int64_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(actual.get(i), expected.get(i),
                    2 * sum_tolerance(expected.dtype(), terms, magnitude, expected.get(i)));
}

TEST(CudaMaxPool, FindsTheCpusFirstLargest) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const Pool2dShape& s : max_shapes()) {
            const Buffer x = inputs(dtype, in_size(s));
            Buffer y(dtype, out_size(s)), index(DType::i32, out_size(s));
            cpu::max_pool2d_forward(y, index, x, s, {});
            const DeviceBuffer device_x(x), device_y(dtype, y.size()),
                device_index(DType::i32, y.size());
            cuda::max_pool2d_forward(device_y, device_index, device_x, s, {});
            expect_same_values(device_y.host(), y);
            EXPECT_EQ(device_index.host().bytes(), index.bytes());

            const DeviceBuffer gathered(dtype, y.size());
            cuda::max_pool2d_gather(gathered, device_x, device_index, s, {});
            expect_same_values(gathered.host(), y);
        }
}

TEST(CudaMaxPool, RefusesAnImageWhosePixelsItsIndexCannotCount) {
    HALFTONE_NEEDS_CUDA();
    const Array none{nullptr, DType::f32, 0}, index{nullptr, DType::i32, 0};
    const Pool2dShape s = shape_of(1, 1, 1 << 16, 1 << 15, 2, 2, 0);
    EXPECT_THROW(cuda::max_pool2d_forward(none, index, none, s, {}), DeviceError);
}

TEST(CudaMaxPool, GivesEachInputTheGradientsOfItsWindows) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const Pool2dShape& s : max_shapes()) {
            Buffer y(dtype, out_size(s)), index(DType::i32, out_size(s));
            cpu::max_pool2d_forward(y, index, inputs(dtype, in_size(s)), s, {});
            const Buffer dy = random_buffer(dtype, out_size(s), 3);
            Buffer dx(dtype, in_size(s));
            cpu::max_pool2d_backward(dx, dy, index, s, {});
            const DeviceBuffer device_dy(dy), device_index(index), device_dx(dtype, in_size(s));
            cuda::max_pool2d_backward(device_dx, device_dy, device_index, s, {});
            expect_same_values(device_dx.host(), dx);
        }
}

TEST(CudaAveragePool, AveragesAsTheCpuDoesForwardAndBackward) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const Pool2dShape& s : average_shapes()) {
            const Buffer x = random_buffer(dtype, in_size(s), 1),
                         dy = random_buffer(dtype, out_size(s), 2);
            Buffer y(dtype, out_size(s)), dx(dtype, in_size(s));
            cpu::avg_pool2d_forward(y, x, s, {});
            cpu::avg_pool2d_backward(dx, dy, s, {});
            const DeviceBuffer device_x(x), device_dy(dy), device_y(dtype, y.size()),
                device_dx(dtype, dx.size());
            cuda::avg_pool2d_forward(device_y, device_x, s, {});
            cuda::avg_pool2d_backward(device_dx, device_dy, s, {});
            if (dtype == DType::f64)  // the CPU's f64 sums do not go line by line
                expect_near_sums(device_y.host(), y, 25, 100);
            else
                expect_same_values(device_y.host(), y);
            expect_same_values(device_dx.host(), dx);
        }
}

TEST(CudaAveragePool, AdaptsItsWindowsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const Pool2dShape& s : adaptive_shapes) {
            const Buffer x = random_buffer(dtype, in_size(s), 1),
                         dy = random_buffer(dtype, out_size(s), 2);
            Buffer y(dtype, out_size(s)), dx(dtype, in_size(s));
            cpu::adaptive_avg_pool2d_forward(y, x, s, {});
            cpu::adaptive_avg_pool2d_backward(dx, dy, s, {});
            const DeviceBuffer device_x(x), device_dy(dy), device_y(dtype, y.size()),
                device_dx(dtype, dx.size());
            cuda::adaptive_avg_pool2d_forward(device_y, device_x, s, {});
            cuda::adaptive_avg_pool2d_backward(device_dx, device_dy, s, {});
            if (dtype == DType::f64)
                expect_near_sums(device_y.host(), y, 49, 200);
            else
                expect_same_values(device_y.host(), y);
            expect_same_values(device_dx.host(), dx);
        }
}

TEST(CudaPool, TakesMemoryAlignedForItsElementsAlone) {
    HALFTONE_NEEDS_CUDA();
    const Pool2dShape s = shape_of(1, 8, 6, 6, 2, 2, 0);
    for (const DType dtype : floating) {
        const Buffer x = random_buffer(dtype, in_size(s) + 1, 1);
        const DeviceBuffer device_x(x), y(dtype, out_size(s) + 1),
            index(DType::i32, out_size(s) + 1), dx(dtype, in_size(s) + 1);
        const auto inside = [](const DeviceBuffer& b) {
            const Array a = b;
            return Array{static_cast<unsigned char*>(a.data) + size_of(a.dtype), a.dtype,
                         a.size - 1};
        };
        cuda::max_pool2d_forward(inside(y), inside(index), inside(device_x), s, {});
        cuda::max_pool2d_backward(inside(dx), inside(y), inside(index), s, {});
        cuda::avg_pool2d_backward(inside(dx), inside(y), s, {});
        cuda::avg_pool2d_forward(inside(y), inside(device_x), s, {});
        EXPECT_TRUE(std::isnan(y.host().get(0)));
        EXPECT_TRUE(std::isnan(dx.host().get(0)));
        EXPECT_EQ(index.host().get(0), -1);
        EXPECT_TRUE(std::isfinite(y.host().get(out_size(s))));
        EXPECT_TRUE(std::isfinite(dx.host().get(in_size(s))));
    }
}

}  // namespace
}  // namespace kernels::test
