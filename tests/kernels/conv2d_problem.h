#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv2d.h"
#include "kernels/sum_tolerance.h"
#include "kernels/support.h"

/// Convolutions with their exact results, for the tests of every backend.
namespace kernels::test::conv {

inline std::string to_string(DType dtype, const Conv2dShape& s) {
    std::string text = "dtype " + std::to_string(static_cast<int>(dtype));
    for (std::int64_t v : {s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.stride_h, s.stride_w, s.pad_h,
                           s.pad_w, s.dilation_h, s.dilation_w, s.groups})
        text += " " + std::to_string(v);
    return text;
}

inline std::int64_t input_size(const Conv2dShape& s) { return s.n * s.c * s.h * s.w; }
inline std::int64_t output_size(const Conv2dShape& s) { return s.n * s.k * s.oh() * s.ow(); }
inline std::int64_t weight_size(const Conv2dShape& s) { return s.k * (s.c / s.groups) * s.r * s.s; }

/// `count` small convolutions with every mixture of channel counts, kernels, strides, padding,
/// dilations and groups: the same ones each time.
inline std::vector<Conv2dShape> many_shapes(int count) {
    std::mt19937 engine(7);
    const auto one_of = [&](std::initializer_list<std::int64_t> values) {
        return values.begin()[engine() % values.size()];
    };
    std::vector<Conv2dShape> shapes;
    while (static_cast<int>(shapes.size()) < count) {
        Conv2dShape s{.n = one_of({1, 2, 3}),
                      .c = one_of({1, 3, 8, 16, 17, 32, 33, 64}),
                      .h = one_of({1, 2, 3, 5, 7, 8, 11, 14}),
                      .w = one_of({1, 2, 4, 5, 7, 9, 14, 17}),
                      .k = one_of({1, 3, 8, 16, 17, 32, 48, 64}),
                      .r = one_of({1, 1, 2, 3, 3, 5}),
                      .s = one_of({1, 1, 2, 3, 3, 5}),
                      .stride_h = one_of({1, 1, 2, 3}),
                      .stride_w = one_of({1, 1, 2, 3}),
                      .pad_h = one_of({0, 0, 1, 2}),
                      .pad_w = one_of({0, 0, 1, 2}),
                      .dilation_h = one_of({1, 1, 2}),
                      .dilation_w = one_of({1, 1, 2})};
        const std::int64_t form = one_of({0, 0, 0, 0, 1, 2});
        if (form == 1) s.groups = s.k = s.c;
        if (form == 2 && s.c % 2 == 0 && s.k % 2 == 0) s.groups = 2;
        const bool fits = s.h + 2 * s.pad_h > s.dilation_h * (s.r - 1) &&
                          s.w + 2 * s.pad_w > s.dilation_w * (s.s - 1);
        if (fits) shapes.push_back(s);
    }
    return shapes;
}

/// Calls f(output index, input index, weight index) for every term of the convolution; the input
/// index of a zero of the padding is -1.
template <class F>
void for_each_term(const Conv2dShape& s, const F& f) {
    const std::int64_t in = s.c / s.groups, out = s.k / s.groups;
    for (std::int64_t n = 0; n < s.n; ++n)
        for (std::int64_t oh = 0; oh < s.oh(); ++oh)
            for (std::int64_t ow = 0; ow < s.ow(); ++ow)
                for (std::int64_t r = 0; r < s.r; ++r)
                    for (std::int64_t t = 0; t < s.s; ++t) {
                        const std::int64_t h = oh * s.stride_h - s.pad_h + r * s.dilation_h;
                        const std::int64_t w = ow * s.stride_w - s.pad_w + t * s.dilation_w;
                        const bool inside = h >= 0 && h < s.h && w >= 0 && w < s.w;
                        for (std::int64_t k = 0; k < s.k; ++k)
                            for (std::int64_t c = 0; c < in; ++c)
                                f(((n * s.oh() + oh) * s.ow() + ow) * s.k + k,
                                  inside ? ((n * s.h + h) * s.w + w) * s.c + k / out * in + c : -1,
                                  ((k * in + c) * s.r + r) * s.s + t);
                    }
}

/// Calls f for the products whose factors are both elements.
template <class F>
void for_each_product(const Conv2dShape& s, const F& f) {
    for_each_term(s, [&](std::int64_t out, std::int64_t in, std::int64_t weight) {
        if (in >= 0) f(out, in, weight);
    });
}

/// Sums of products in double, with the values that their tolerance needs.
struct Sums {
    explicit Sums(std::int64_t size)
        : value(static_cast<std::size_t>(size)), magnitude(value), terms(value.size()) {}
    void add(std::int64_t i, double product) {
        const auto at = static_cast<std::size_t>(i);
        value[at] += product;
        magnitude[at] += std::abs(product);
        ++terms[at];
    }
    std::vector<double> value, magnitude;
    std::vector<std::int64_t> terms;
};

inline void expect_sums(const Buffer& actual, const Sums& sums, const char* what) {
    for (std::int64_t i = 0; i < actual.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_LE(std::abs(actual.get(i) - sums.value[at]),
                  sum_tolerance(actual.dtype(), sums.terms[at], sums.magnitude[at], sums.value[at]))
            << what << " element " << i << " is " << actual.get(i) << ", not " << sums.value[at];
    }
}

struct Kernels {
    Conv2dForward* forward;
    Conv2dDataGradient* data_gradient;
    Conv2dWeightGradient* weight_gradient;
};
/// Operands, and the exact results of the three kernels: double arithmetic on the stored values.
struct Problem {
    Problem(DType dtype_, const Conv2dShape& shape_)
        : dtype(dtype_),
          shape(shape_),
          x(random_buffer(dtype, input_size(shape), 1)),
          w(random_buffer(dtype, weight_size(shape), 2)),
          dy(random_buffer(dtype, output_size(shape), 3)),
          bias(random_buffer(dtype, shape.k, 4)),
          y_sums(output_size(shape)),
          dx_sums(input_size(shape)),
          dw_sums(weight_size(shape)),
          dbias_sums(shape.k) {
        const std::vector<double> xs = x.values(), ws = w.values(), dys = dy.values();
        for_each_product(shape, [&](std::int64_t out, std::int64_t in, std::int64_t weight) {
            const double xv = xs[static_cast<std::size_t>(in)];
            const double wv = ws[static_cast<std::size_t>(weight)];
            const double dyv = dys[static_cast<std::size_t>(out)];
            y_sums.add(out, xv * wv);
            dx_sums.add(in, dyv * wv);
            dw_sums.add(weight, dyv * xv);
        });
        biased = y_sums;
        for (std::int64_t i = 0; i < dy.size(); ++i) {
            biased.add(i, bias.get(i % shape.k));
            dbias_sums.add(i % shape.k, dy.get(i));
        }
    }

    void check(const Kernels& run) const {
        Buffer y(dtype, output_size(shape)), dx(dtype, input_size(shape));
        Buffer dw(dtype, weight_size(shape)), dbias(dtype, shape.k);
        run.forward(y, x, w, {nullptr, dtype, 0}, shape, {});
        expect_sums(y, y_sums, "y");
        run.forward(y, x, w, bias, shape, {});
        expect_sums(y, biased, "y with bias");
        run.data_gradient(dx, dy, w, shape, {});
        expect_sums(dx, dx_sums, "dx");
        run.weight_gradient(dw, dbias, dy, x, shape, {});
        expect_sums(dw, dw_sums, "dw");
        expect_sums(dbias, dbias_sums, "dbias");
        run.weight_gradient(dw, {nullptr, dtype, 0}, dy, x, shape, {});
        expect_sums(dw, dw_sums, "dw without dbias");
    }

    DType dtype;
    Conv2dShape shape;
    Buffer x, w, dy, bias;
    Sums y_sums, dx_sums, dw_sums, dbias_sums, biased{0};
};

/// Weights of a shape in PyTorch's order as (K, R, S, C / groups) in memory.
inline Buffer in_channels_last(const Buffer& w, const Conv2dShape& s) {
    Buffer out(w.dtype(), w.size());
    const std::int64_t channels = s.c / s.groups, pixels = s.r * s.s;
    for (std::int64_t i = 0; i < w.size(); ++i) {
        const std::int64_t pixel = i % pixels, c = i / pixels % channels, k = i / pixels / channels;
        out.set((k * pixels + pixel) * channels + c, w.get(i));
    }
    return out;
}

/// The order of the weights in memory changes no bit of any result.
inline void expect_same_in_channels_last(const Kernels& run, const Problem& p) {
    const Buffer w_last = in_channels_last(p.w, p.shape);
    Conv2dShape last = p.shape;
    last.channels_last_weights = true;
    Buffer y(p.dtype, output_size(p.shape)), dx(p.dtype, input_size(p.shape));
    Buffer dw(p.dtype, weight_size(p.shape)), dbias(p.dtype, p.shape.k);
    Buffer y_last = y, dx_last = dx, dw_last = dw, dbias_last = dbias;
    run.forward(y, p.x, p.w, p.bias, p.shape, {});
    run.forward(y_last, p.x, w_last, p.bias, last, {});
    EXPECT_EQ(y_last.bytes(), y.bytes());
    run.data_gradient(dx, p.dy, p.w, p.shape, {});
    run.data_gradient(dx_last, p.dy, w_last, last, {});
    EXPECT_EQ(dx_last.bytes(), dx.bytes());
    run.weight_gradient(dw, dbias, p.dy, p.x, p.shape, {});
    run.weight_gradient(dw_last, dbias_last, p.dy, p.x, last, {});
    EXPECT_EQ(dw_last.bytes(), in_channels_last(dw, p.shape).bytes());
    EXPECT_EQ(dbias_last.bytes(), dbias.bytes());
}

/// With one and several groups, and with one pixel, where both orders are the same memory.
inline const Conv2dShape weight_orders[] = {
    {.n = 2, .c = 6, .h = 7, .w = 9, .k = 4, .r = 3, .s = 2, .stride_w = 2, .pad_h = 1},
    {.n = 2, .c = 6, .h = 7, .w = 9, .k = 4, .r = 3, .s = 2, .dilation_h = 2, .groups = 2},
    {.n = 2, .c = 3, .h = 5, .w = 6, .k = 8, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1},
    {.n = 1, .c = 5, .h = 6, .w = 6, .k = 7, .r = 1, .s = 1}};

}  // namespace kernels::test::conv
