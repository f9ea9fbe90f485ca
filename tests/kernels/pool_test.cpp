#include <gtest/gtest.h>

#include <functional>

#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/device_error.h"
#include "kernels/pool.h"
#include "kernels/sum_tolerance.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

using I = std::int64_t;

Pool2dShape pool_shape(I n, I c, I h, I w, I kernel, I stride, I pad, I dilation = 1) {
    Pool2dShape s{};
    s.n = n, s.c = c, s.h = h, s.w = w;
    s.kernel_h = s.kernel_w = kernel;
    s.stride_h = s.stride_w = stride;
    s.pad_h = s.pad_w = pad;
    s.dilation_h = s.dilation_w = dilation;
    s.oh = (h + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    s.ow = (w + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    return s;
}

/// Windows that touch, overlap, extend past the edge, are dilated, or skip rows.
std::vector<Pool2dShape> pool_shapes() {
    std::vector<Pool2dShape> result;
    for (I c : {1, 6, 16, 33, 64}) {
        result.push_back(pool_shape(2, c, 8, 8, 2, 2, 0));
        result.push_back(pool_shape(2, c, 9, 7, 3, 2, 1));
        result.push_back(pool_shape(1, c, 7, 7, 3, 1, 1));
        result.push_back(pool_shape(1, c, 9, 9, 2, 3, 0, 2));
        result.push_back(pool_shape(1, c, 5, 6, 2, 2, 1));
    }
    return result;
}

I x_size(const Pool2dShape& s) { return s.n * s.h * s.w * s.c; }
I y_size(const Pool2dShape& s) { return s.n * s.oh * s.ow * s.c; }

/// Calls f(y's offset, x's offset, place in the plane or -1 in the padding) for every tap.
void for_each_tap(const Pool2dShape& s, const std::function<void(I, I, I)>& f) {
    for (I n = 0; n < s.n; ++n)
        for (I oh = 0; oh < s.oh; ++oh)
            for (I ow = 0; ow < s.ow; ++ow)
                for (I c = 0; c < s.c; ++c)
                    for (I kh = 0; kh < s.kernel_h; ++kh)
                        for (I kw = 0; kw < s.kernel_w; ++kw) {
                            const I h = oh * s.stride_h - s.pad_h + kh * s.dilation_h;
                            const I w = ow * s.stride_w - s.pad_w + kw * s.dilation_w;
                            const bool inside = h >= 0 && h < s.h && w >= 0 && w < s.w;
                            if (!inside && (h >= s.h + s.pad_h || w >= s.w + s.pad_w)) continue;
                            f(((n * s.oh + oh) * s.ow + ow) * s.c + c,
                              ((n * s.h + h) * s.w + w) * s.c + c, inside ? h * s.w + w : -1);
                        }
}

TEST(MaxPool, FindsTheFirstLargestAndItsPlace) {
    on_every_target([] {
        for (DType dtype : floating)
            for (const Pool2dShape& s : pool_shapes()) {
                // Few distinct values, so that ties occur.
                Buffer x = random_buffer(dtype, x_size(s), 1);
                for (I i = 0; i < x.size(); ++i) x.set(i, std::round(2 * x.get(i)));
                Buffer y(dtype, y_size(s)), index(DType::i32, y_size(s));
                cpu::max_pool2d_forward(y, index, x, s, {});
                std::vector<double> most(static_cast<std::size_t>(y.size()), -1e9);
                std::vector<I> place(most.size(), -1);
                for_each_tap(s, [&](I to, I from, I at) {
                    const auto k = static_cast<std::size_t>(to);
                    if (at < 0 || x.get(from) <= most[k]) return;
                    most[k] = x.get(from);
                    place[k] = at;
                });
                for (I i = 0; i < y.size(); ++i) {
                    ASSERT_EQ(y.get(i), most[static_cast<std::size_t>(i)]);
                    ASSERT_EQ(index.as<std::int32_t>()[i], place[static_cast<std::size_t>(i)]);
                }
            }
    });
}

TEST(MaxPool, CountsNaNAsLargestAndTakesTheLastOfThem) {
    on_every_target([] {
        for (DType dtype : floating) {
            const double no = static_cast<double>(nan);
            const Buffer x(dtype, {1, no, inf, no});
            Buffer y(dtype, 1), index(DType::i32, 1);
            cpu::max_pool2d_forward(y, index, x, pool_shape(1, 1, 2, 2, 2, 2, 0), {});
            EXPECT_TRUE(std::isnan(y.get(0)));
            EXPECT_EQ(index.get(0), 3);
            const Buffer low(dtype, {-inf, -inf, -inf, -inf});
            cpu::max_pool2d_forward(y, index, low, pool_shape(1, 1, 2, 2, 2, 2, 0), {});
            EXPECT_EQ(y.get(0), -inf);
            EXPECT_EQ(index.get(0), 0);
        }
    });
}

TEST(MaxPool, AdaptsItsWindows) {
    on_every_target([] {
        for (DType dtype : floating) {
            Pool2dShape s{};
            s.n = 1, s.c = 1, s.h = 2, s.w = 5, s.oh = 3, s.ow = 2;
            s.adaptive = true;
            // Rows [0, 1), [0, 2), [1, 2); columns [0, 3), [2, 5).
            const Buffer x(dtype, {1, 2, 3, 2, 3, 5, 1, 4, 4, 0}), dy(dtype, {1, 2, 3, 4, 5, 6});
            Buffer y(dtype, 6), index(DType::i32, 6), dx(dtype, 10), again(dtype, 6);
            cpu::max_pool2d_forward(y, index, x, s, {});
            cpu::max_pool2d_backward(dx, dy, index, s, {});
            cpu::max_pool2d_gather(again, x, index, s, {});
            const I places[] = {2, 2, 5, 7, 5, 7};
            const double gradients[] = {0, 0, 3, 0, 0, 8, 0, 10, 0, 0};
            for (I i = 0; i < 6; ++i) {
                EXPECT_EQ(index.get(i), places[i]);
                EXPECT_EQ(y.get(i), x.get(places[i]));
                EXPECT_EQ(again.get(i), y.get(i));
            }
            for (I i = 0; i < 10; ++i) EXPECT_EQ(dx.get(i), gradients[i]);
        }
    });
}

TEST(MaxPool, AWindowWithoutATapHasNoPlace) {
    on_every_target([] {
        for (DType dtype : floating) {
            // The taps are at -1 and 2 in an image of two by two.
            const Pool2dShape s = pool_shape(1, 1, 2, 2, 2, 1, 1, 3);
            const Buffer x(dtype, {1, 2, 3, 4}), dy(dtype, {5});
            Buffer y(dtype, 1), index(DType::i32, 1), dx(dtype, 4), again(dtype, 1);
            cpu::max_pool2d_forward(y, index, x, s, {});
            EXPECT_EQ(index.get(0), -1);
            cpu::max_pool2d_gather(again, x, index, s, {});
            EXPECT_EQ(again.get(0), 0);
            cpu::max_pool2d_backward(dx, dy, index, s, {});
            for (I i = 0; i < 4; ++i) EXPECT_EQ(dx.get(i), 0);
        }
    });
}

TEST(MaxPoolBackward, AddsEachGradientAtItsIndexInF32) {
    on_every_target([] {
        for (DType dtype : floating)
            for (const Pool2dShape& s : pool_shapes()) {
                const Buffer x = random_buffer(dtype, x_size(s), 2);
                const Buffer dy = random_buffer(dtype, y_size(s), 3);
                Buffer y(dtype, dy.size()), index(DType::i32, dy.size()), dx(dtype, x.size());
                cpu::max_pool2d_forward(y, index, x, s, {});
                cpu::max_pool2d_backward(dx, dy, index, s, {});
                std::vector<double> expected(static_cast<std::size_t>(x.size()));
                std::vector<double> size(expected.size());
                for (I i = 0; i < dy.size(); ++i) {
                    const I image = i / (s.oh * s.ow * s.c);
                    const I at = (image * s.h * s.w + index.as<std::int32_t>()[i]) * s.c + i % s.c;
                    expected[static_cast<std::size_t>(at)] += dy.get(i);
                    size[static_cast<std::size_t>(at)] += std::fabs(dy.get(i));
                }
                for (I i = 0; i < x.size(); ++i) {
                    const auto k = static_cast<std::size_t>(i);
                    const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
                    // At most nine windows overlap.
                    ASSERT_TRUE(near(dx.get(i), expected[k], dtype, 9 * unit * size[k]));
                }
            }
    });
}

TEST(MaxPoolGather, ReadsAtTheIndices) {
    for (DType dtype : floating)
        for (const Pool2dShape& s : pool_shapes()) {
            const Buffer x = random_buffer(dtype, x_size(s), 4);
            Buffer y(dtype, y_size(s)), index(DType::i32, y.size()), again(dtype, y.size());
            cpu::max_pool2d_forward(y, index, x, s, {});
            cpu::max_pool2d_gather(again, x, index, s, {});
            EXPECT_EQ(again.bytes(), y.bytes());
        }
}

TEST(AvgPool, AveragesWithAndWithoutThePadding) {
    on_every_target([] {
        for (DType dtype : floating)
            for (Pool2dShape s : pool_shapes())
                for (I divisor : {-1, 0, 5}) {  // -1: the count without the padding, 0: with it
                    const bool padded = divisor >= 0;
                    s.count_include_pad = padded;
                    s.divisor = std::max<I>(divisor, 0);
                    const Buffer x = random_buffer(dtype, x_size(s), 5);
                    const Buffer dy = random_buffer(dtype, y_size(s), 6);
                    Buffer y(dtype, dy.size()), dx(dtype, x.size());
                    cpu::avg_pool2d_forward(y, x, s, {});
                    cpu::avg_pool2d_backward(dx, dy, s, {});
                    std::vector<double> sum(static_cast<std::size_t>(y.size())), count(sum.size());
                    for_each_tap(s, [&](I to, I from, I at) {
                        const auto k = static_cast<std::size_t>(to);
                        if (at >= 0) sum[k] += x.get(from);
                        if (divisor > 0)
                            count[k] = static_cast<double>(divisor);
                        else if (at >= 0 || padded)
                            count[k] += 1;
                    });
                    std::vector<double> gradient(static_cast<std::size_t>(x.size()));
                    for_each_tap(s, [&](I to, I from, I at) {
                        if (at >= 0)
                            gradient[static_cast<std::size_t>(from)] +=
                                dy.get(to) / count[static_cast<std::size_t>(to)];
                    });
                    // Nine terms of magnitude up to 4, each with a unit.
                    const double slack = 9 * 4 * (dtype == DType::f64 ? 0x1p-52 : 0x1p-23);
                    for (I i = 0; i < y.size(); ++i) {
                        const auto k = static_cast<std::size_t>(i);
                        if (count[k] == 0) continue;
                        ASSERT_TRUE(near(y.get(i), sum[k] / count[k], dtype, slack)) << i;
                    }
                    for (I i = 0; i < x.size(); ++i)
                        ASSERT_TRUE(
                            near(dx.get(i), gradient[static_cast<std::size_t>(i)], dtype, slack))
                            << i;
                }
    });
}

TEST(AdaptiveAvgPool, SplitsAnySizeIntoAnyNumberOfWindows) {
    on_every_target([] {
        for (DType dtype : floating)
            for (I h : {4, 7})
                for (I oh : {1, 2, 3, 7, 9}) {
                    Pool2dShape s{};
                    s.n = 2, s.c = 19, s.h = h, s.w = 5, s.oh = oh, s.ow = 2;
                    const Buffer x = random_buffer(dtype, x_size(s), 7);
                    const Buffer dy = random_buffer(dtype, y_size(s), 8);
                    Buffer y(dtype, dy.size()), dx(dtype, x.size());
                    cpu::adaptive_avg_pool2d_forward(y, x, s, {});
                    cpu::adaptive_avg_pool2d_backward(dx, dy, s, {});
                    std::vector<double> gradient(static_cast<std::size_t>(x.size()));
                    const double slack = 35 * 4 * (dtype == DType::f64 ? 0x1p-52 : 0x1p-23);
                    for (I i = 0; i < y.size(); ++i) {
                        const I c = i % s.c, ow = i / s.c % s.ow, row = i / s.c / s.ow % s.oh;
                        const I n = i / s.c / s.ow / s.oh;
                        const I top = row * s.h / s.oh,
                                bottom = ((row + 1) * s.h + s.oh - 1) / s.oh;
                        const I left = ow * s.w / s.ow, right = ((ow + 1) * s.w + s.ow - 1) / s.ow;
                        const auto count = static_cast<double>((bottom - top) * (right - left));
                        double sum = 0;
                        for (I a = top; a < bottom; ++a)
                            for (I b = left; b < right; ++b) {
                                const I from = ((n * s.h + a) * s.w + b) * s.c + c;
                                sum += x.get(from);
                                gradient[static_cast<std::size_t>(from)] += dy.get(i) / count;
                            }
                        ASSERT_TRUE(near(y.get(i), sum / count, dtype, slack));
                    }
                    for (I i = 0; i < x.size(); ++i)
                        ASSERT_TRUE(
                            near(dx.get(i), gradient[static_cast<std::size_t>(i)], dtype, slack));
                }
    });
}

TEST(Pool, GivesTheSameBitsForEveryThreadCount) {
    const Pool2dShape s = pool_shape(8, 64, 32, 32, 3, 2, 1);
    const Buffer x = random_buffer(DType::f16, x_size(s), 9);
    const Buffer dy = random_buffer(DType::f16, y_size(s), 10);
    Buffer y(DType::f16, dy.size()), index(DType::i32, dy.size()), dx(DType::f16, x.size());
    cpu::set_threads(1);
    cpu::max_pool2d_forward(y, index, x, s, {});
    cpu::max_pool2d_backward(dx, dy, index, s, {});
    with_threads([&](int) {
        Buffer y2(DType::f16, dy.size()), index2(DType::i32, dy.size()), dx2(DType::f16, x.size());
        cpu::max_pool2d_forward(y2, index2, x, s, {});
        cpu::max_pool2d_backward(dx2, dy, index2, s, {});
        EXPECT_EQ(y2.bytes(), y.bytes());
        EXPECT_EQ(index2.bytes(), index.bytes());
        EXPECT_EQ(dx2.bytes(), dx.bytes());
    });
}

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
