#include "kernels/softmax.h"

#include <gtest/gtest.h>

#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

const std::vector<std::int64_t> widths = {1, 2, 10, 31, 32, 33, 1000};

SoftmaxForm form_of(bool log) { return log ? SoftmaxForm::log : SoftmaxForm::plain; }

std::vector<double> softmax_row(const Buffer& x, std::int64_t row, std::int64_t cols, bool log) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) most = std::max(most, x.get(row * cols + c));
    for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(x.get(row * cols + c) - most);
    std::vector<double> y;
    for (std::int64_t c = 0; c < cols; ++c) {
        const double shifted = x.get(row * cols + c) - most;
        y.push_back(log ? shifted - std::log(sum) : std::exp(shifted) / sum);
    }
    return y;
}

/// Units of f32 (f64) of error: 2 for exp, 1 for the shift (times the value shifted, as an
/// exponent), 128 + 16 at most for the sum of positive terms, 1 for the quotient. Relative for
/// softmax; log turns relative into absolute.
double softmax_slack(DType dtype, double shifted, double expected, bool log) {
    const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
    const double relative = unit * (150 + std::fabs(shifted));
    return log ? relative + unit * std::fabs(expected) : relative * expected;
}

TEST(Softmax, MeetsTheReferenceForEveryTypeAndWidth) {
    on_every_target([] {
        for (DType dtype : floating)
            for (DType to : {dtype, dtype == DType::f64 ? DType::f64 : DType::f32})
                for (std::int64_t cols : widths)
                    for (bool log : {false, true}) {
                        const std::int64_t rows = 5;
                        const Buffer x = random_buffer(dtype, rows * cols, 1, 0, 4);
                        Buffer y(to, x.size());
                        cpu::softmax_forward(y, x, rows, cols, form_of(log), {});
                        for (std::int64_t r = 0; r < rows; ++r) {
                            const auto expected = softmax_row(x, r, cols, log);
                            for (std::int64_t c = 0; c < cols; ++c) {
                                const double e = expected[static_cast<std::size_t>(c)];
                                ASSERT_TRUE(near(y.get(r * cols + c), e, to,
                                                 softmax_slack(dtype, 32, e, log)));
                            }
                        }
                    }
    });
}

TEST(Softmax, GivesNaNForRowsOfNaNPlusInfinityOrOnlyMinusInfinity) {
    const double inf = static_cast<double>(infinity);
    on_every_target([&] {
        for (DType dtype : floating)
            for (std::int64_t cols : {3, 40})
                for (bool log : {false, true}) {
                    Buffer x = random_buffer(dtype, 4 * cols, 2);
                    x.set(1, static_cast<double>(nan));
                    x.set(cols + 2, inf);
                    for (std::int64_t c = 0; c < cols; ++c) x.set(2 * cols + c, -inf);
                    x.set(3 * cols, -inf);  // one class masked: the others share
                    Buffer y(dtype, x.size());
                    cpu::softmax_forward(y, x, 4, cols, form_of(log), {});
                    for (std::int64_t i = 0; i < 3 * cols; ++i)
                        ASSERT_TRUE(std::isnan(y.get(i))) << i;
                    EXPECT_EQ(y.get(3 * cols), log ? -inf : 0);
                    EXPECT_TRUE(std::isfinite(y.get(3 * cols + 1)));
                }
    });
}

TEST(Softmax, MaskedGivesZeroForRowsOfMinusInfinityAlone) {
    on_every_target([] {
        const double inf = std::numeric_limits<double>::infinity();
        for (DType dtype : floating)
            for (std::int64_t cols : {3, 40}) {
                Buffer x = random_buffer(dtype, 4 * cols, 2);
                for (std::int64_t c = 0; c < 2 * cols; ++c) x.set(c, -inf);
                x.set(2 * cols - 1, std::nan(""));
                x.set(2 * cols, inf);
                Buffer y(dtype, x.size()), plain(dtype, x.size());
                cpu::softmax_forward(y, x, 4, cols, SoftmaxForm::masked, {});
                cpu::softmax_forward(plain, x, 4, cols, SoftmaxForm::plain, {});
                for (std::int64_t c = 0; c < cols; ++c) {
                    ASSERT_EQ(y.get(c), 0) << c;
                    ASSERT_TRUE(std::isnan(y.get(cols + c))) << c;
                    ASSERT_TRUE(std::isnan(y.get(2 * cols + c))) << c;
                    ASSERT_EQ(y.get(3 * cols + c), plain.get(3 * cols + c)) << c;
                }
            }
    });
}

TEST(Softmax, SurvivesLogitsBeyondTheRangeOfExp) {
    const Buffer x(DType::f32, {1e4, 1e4, -1e4});
    Buffer y(DType::f32, 3);
    cpu::softmax_forward(y, x, 1, 3, SoftmaxForm::plain, {});
    EXPECT_EQ(y.values(), (std::vector<double>{0.5, 0.5, 0}));
}

TEST(SoftmaxBackward, MeetsTheReferenceForEveryTypeAndWidth) {
    on_every_target([] {
        for (DType dtype : floating)
            for (DType to : {dtype, DType::f16, DType::bf16})
                for (std::int64_t cols : widths)
                    for (bool log : {false, true}) {
                        const std::int64_t rows = 3;
                        const Buffer x = random_buffer(dtype, rows * cols, 3);
                        const Buffer dy = random_buffer(dtype, rows * cols, 4);
                        Buffer y(dtype, x.size()), dx(to, x.size());
                        cpu::softmax_forward(y, x, rows, cols, form_of(log), {});
                        cpu::softmax_backward(dx, dy, y, rows, cols, log, {});
                        const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
                        for (std::int64_t i = 0; i < x.size(); ++i) {
                            double sum = 0, magnitude = 0;
                            for (std::int64_t c = 0; c < cols; ++c) {
                                const std::int64_t k = i / cols * cols + c;
                                const double t = log ? dy.get(k) : dy.get(k) * y.get(k);
                                sum += t;
                                magnitude += std::fabs(t);
                            }
                            const double factor = log ? std::exp(y.get(i)) : y.get(i);
                            const double expected =
                                log ? dy.get(i) - factor * sum : factor * (dy.get(i) - sum);
                            // The sum is off by at most 150 units of its magnitudes.
                            const double slack =
                                unit * (150 * factor * magnitude + 4 * std::fabs(dy.get(i)) +
                                        4 * std::fabs(expected));
                            ASSERT_TRUE(near(dx.get(i), expected, to, slack));
                        }
                    }
    });
}

struct CrossEntropyData {
    Buffer logits, target, log_probs, losses;
};

CrossEntropyData cross_entropy_data(DType dtype, std::int64_t rows, std::int64_t cols) {
    const DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
    CrossEntropyData d{random_buffer(dtype, rows * cols, 5, 0, 3), Buffer(DType::i64, rows),
                       Buffer(wide, rows * cols), Buffer(wide, rows)};
    for (std::int64_t r = 0; r < rows; ++r)
        d.target.set(r, static_cast<double>(r % 4 == 3 ? -100 : r % cols));
    return d;
}

TEST(CrossEntropy, MeetsTheReferenceAndSkipsIgnoredRows) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : widths) {
                const std::int64_t rows = 9;
                auto d = cross_entropy_data(dtype, rows, cols);
                ASSERT_TRUE(cpu::cross_entropy_forward(d.log_probs, d.losses, d.logits, d.target,
                                                       rows, cols, -100, {}, {}));
                for (std::int64_t r = 0; r < rows; ++r) {
                    const auto expected = softmax_row(d.logits, r, cols, true);
                    for (std::int64_t c = 0; c < cols; ++c) {
                        const double e = expected[static_cast<std::size_t>(c)];
                        ASSERT_NEAR(d.log_probs.get(r * cols + c), e,
                                    softmax_slack(dtype, 32, e, true));
                    }
                    const bool ignored = r % 4 == 3;
                    EXPECT_EQ(d.losses.get(r), ignored ? 0 : -d.log_probs.get(r * cols + r % cols));
                }
            }
    });
}

TEST(CrossEntropy, RefusesALabelOutsideTheClasses) {
    for (std::int64_t label : {-1, 10}) {
        auto d = cross_entropy_data(DType::f32, 3, 10);
        d.target.set(1, static_cast<double>(label));
        EXPECT_FALSE(cpu::cross_entropy_forward(d.log_probs, d.losses, d.logits, d.target, 3, 10,
                                                -100, {}, {}));
    }
}

TEST(CrossEntropyBackward, MeetsTheReferenceWithOneScaleOrOnePerRow) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : widths)
                for (std::int64_t scales : {1, 9}) {
                    const std::int64_t rows = 9;
                    auto d = cross_entropy_data(dtype, rows, cols);
                    cpu::cross_entropy_forward(d.log_probs, d.losses, d.logits, d.target, rows,
                                               cols, -100, {}, {});
                    const Buffer scale = random_buffer(d.log_probs.dtype(), scales, 6, 100, 30);
                    Buffer dlogits(dtype, rows * cols);
                    cpu::cross_entropy_backward(dlogits, scale, d.log_probs, d.target, rows, cols,
                                                -100, {});
                    for (std::int64_t i = 0; i < dlogits.size(); ++i) {
                        const std::int64_t r = i / cols;
                        const double factor = scale.get(scales == 1 ? 0 : r);
                        const double p = std::exp(d.log_probs.get(i));
                        const double hit = i % cols == r % cols ? 1 : 0;
                        const double expected = r % 4 == 3 ? 0 : factor * (p - hit);
                        // exp: 2 units; difference and product: 1 each, relative to p + hit.
                        const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
                        const double slack = 4 * unit * std::fabs(factor) * (p + hit);
                        ASSERT_TRUE(near(dlogits.get(i), expected, dtype, slack));
                    }
                }
    });
}

TEST(CrossEntropyBackward, MayWriteOverTheLogProbabilities) {
    auto d = cross_entropy_data(DType::f32, 9, 33);
    cpu::cross_entropy_forward(d.log_probs, d.losses, d.logits, d.target, 9, 33, -100, {}, {});
    const Buffer scale(DType::f32, {0.25});
    Buffer expected(DType::f32, d.log_probs.size());
    cpu::cross_entropy_backward(expected, scale, d.log_probs, d.target, 9, 33, -100, {});
    cpu::cross_entropy_backward(d.log_probs, scale, d.log_probs, d.target, 9, 33, -100, {});
    EXPECT_EQ(d.log_probs.bytes(), expected.bytes());
}

TEST(Softmax, GivesTheSameBitsForEveryThreadCount) {
    const Buffer x = random_buffer(DType::f16, 700 * 100, 7);
    Buffer expected(DType::f16, x.size());
    cpu::softmax_forward(expected, x, 700, 100, SoftmaxForm::plain, {});
    with_threads([&](int) {
        Buffer y(DType::f16, x.size());
        cpu::softmax_forward(y, x, 700, 100, SoftmaxForm::plain, {});
        EXPECT_EQ(y.bytes(), expected.bytes());
    });
}

}  // namespace
}  // namespace kernels::test
