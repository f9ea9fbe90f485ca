#include <gtest/gtest.h>

#include <functional>

#include "kernels/pool.h"
#include "kernels/support.h"

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

}  // namespace
}  // namespace kernels::test
