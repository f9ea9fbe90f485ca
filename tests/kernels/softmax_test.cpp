#include <gtest/gtest.h>

#include "kernels/softmax.h"
#include "kernels/softmax_reference.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

const std::vector<std::int64_t> softmax_widths = {1, 2, 10, 31, 32, 33, 1000};

SoftmaxForm form_of(bool log) { return log ? SoftmaxForm::log : SoftmaxForm::plain; }

TEST(Softmax, MeetsTheReferenceForEveryTypeAndWidth) {
    on_every_target([] {
        for (DType dtype : floating)
            for (DType to : {dtype, dtype == DType::f64 ? DType::f64 : DType::f32})
                for (std::int64_t cols : softmax_widths)
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
    on_every_target([&] {
        for (DType dtype : floating)
            for (std::int64_t cols : {3, 40})
                for (bool log : {false, true}) {
                    Buffer x = random_buffer(dtype, 4 * cols, 2);
                    x.set(1, static_cast<double>(nan));
                    x.set(cols + 2, inf);
                    for (std::int64_t c = 0; c < cols; ++c) x.set(2 * cols + c, -inf);
                    x.set(3 * cols, -inf);  // one class is masked: the others share the probability
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
                for (std::int64_t cols : softmax_widths)
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

/// Covers all ways to divide a row: part of a warp, several elements per lane, one block, the
/// largest.
const std::vector<std::int64_t> softmax_twin_widths = {1, 2, 10, 31, 33, 64, 1000, 1025, 3001};

/// For each twin: 2 units for exp, 1 for the shift (times its value, as an exponent), 128 + 16 for
/// the sum of positive terms, 1 for the quotient. Relative for softmax; log turns that into an
/// absolute error.
double twin_slack(DType dtype, double expected, bool log) {
    const double relative = (dtype == DType::f64 ? 0x1p-51 : 0x1p-22) * (150 + 32);
    if (!log) return relative * expected;
    return relative + (dtype == DType::f64 ? 0x1p-51 : 0x1p-22) * std::fabs(expected);
}

Results forward_twins(const Buffer& x, DType to, std::int64_t rows, std::int64_t cols,
                      SoftmaxForm form, std::int64_t skip = 0) {
    return run_twins(cpu::softmax_forward, cuda::softmax_forward, to, rows * cols, {x}, skip,
                     [&](SoftmaxForward f, Array y, const std::vector<ConstArray>& in) {
                         f(y, in[0], rows, cols, form, {});
                     });
}

void expect_near_softmax(const Buffer& x, DType to, std::int64_t rows, std::int64_t cols, bool log,
                         std::int64_t skip = 0) {
    const auto results = forward_twins(x, to, rows, cols, form_of(log), skip);
    for (std::int64_t i = skip; i < rows * cols + skip; ++i) {
        const double expected = results.cpu.get(i);
        ASSERT_TRUE(near(results.cuda.get(i), expected, to,
                         twin_slack(x.dtype(), expected, log) + half_ulp(to, expected)))
            << "(" << rows << ", " << cols << "), element " << i;
    }
}

TEST(CudaSoftmax, MeetsTheCpuForEveryTypeAndWidth) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (DType to : {dtype, wide_of(dtype)})
            for (std::int64_t cols : softmax_twin_widths)
                for (bool log : {false, true})
                    expect_near_softmax(random_buffer(dtype, 5 * cols, 1, 0, 4), to, 5, cols, log);
}

TEST(CudaSoftmax, TakesRowsOfAVocabularyAndManyShortOnes) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f32, DType::bf16}) {
        expect_near_softmax(random_buffer(dtype, 2 * 20'001, 2), DType::f32, 2, 20'001, true);
        expect_near_softmax(random_buffer(dtype, 100'000, 3), dtype, 1, 100'000, false);
        expect_near_softmax(random_buffer(dtype, 4001 * 3, 4), dtype, 4001, 3, false);
    }
}

TEST(CudaSoftmax, TakesMisalignedStarts) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t cols : {40, 1064})
            expect_near_softmax(random_buffer(dtype, 3 * cols + 1, 5), dtype, 3, cols, false, 1);
}

TEST(CudaSoftmax, RisesThroughARowWithoutLosingItsSum) {
    HALFTONE_NEEDS_CUDA();
    Buffer x(DType::f32, 2 * 2000);  // the maximum changes at every element, or never
    for (std::int64_t i = 0; i < 2000; ++i) {
        x.set(i, static_cast<double>(i) * 0.01);
        x.set(2000 + i, static_cast<double>(-i) * 0.01);
    }
    expect_near_softmax(x, DType::f32, 2, 2000, false);
}

TEST(CudaSoftmax, GivesNaNForRowsOfNaNPlusInfinityOrOnlyMinusInfinity) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t cols : {3, 40, 1500})
            for (bool log : {false, true}) {
                Buffer x = random_buffer(dtype, 6 * cols, 6);
                x.set(1, static_cast<double>(nan));
                x.set(cols + 2, inf);
                for (std::int64_t c = 0; c < cols; ++c) x.set(2 * cols + c, -inf);
                for (std::int64_t c = 0; c < cols; ++c) x.set(3 * cols + c, -inf);
                x.set(4 * cols - 1, static_cast<double>(nan));
                for (std::int64_t c = 0; c < cols - 1; ++c) x.set(4 * cols + c, -inf);
                x.set(5 * cols, -inf);
                const Buffer y = forward_twins(x, dtype, 6, cols, form_of(log)).cuda;
                for (std::int64_t i = 0; i < 4 * cols; ++i) ASSERT_TRUE(std::isnan(y.get(i))) << i;
                EXPECT_EQ(y.get(4 * cols), log ? -inf : 0);
                EXPECT_EQ(y.get(5 * cols - 1), log ? 0 : 1);  // all but one class masked
                EXPECT_EQ(y.get(5 * cols), log ? -inf : 0);
                EXPECT_TRUE(std::isfinite(y.get(5 * cols + 1)));
            }
}

TEST(CudaSoftmax, MaskedGivesZeroForRowsOfMinusInfinityAlone) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t cols : {3, 40, 1500}) {
            Buffer x = random_buffer(dtype, 3 * cols, 6);
            for (std::int64_t c = 0; c < 2 * cols; ++c) x.set(c, -inf);
            x.set(2 * cols - 1, static_cast<double>(nan));
            const Buffer y = forward_twins(x, dtype, 3, cols, SoftmaxForm::masked).cuda;
            const Buffer plain = forward_twins(x, dtype, 3, cols, SoftmaxForm::plain).cuda;
            for (std::int64_t c = 0; c < cols; ++c) {
                ASSERT_EQ(y.get(c), 0) << c;
                ASSERT_TRUE(std::isnan(y.get(cols + c))) << c;
                ASSERT_EQ(y.get(2 * cols + c), plain.get(2 * cols + c)) << c;
            }
        }
}

TEST(CudaSoftmax, MayWriteOverItsInput) {
    HALFTONE_NEEDS_CUDA();
    for (std::int64_t cols : {50, 2000}) {
        const Buffer x = random_buffer(DType::f16, 4 * cols, 7);
        const DeviceBuffer y(x);
        cuda::softmax_forward(y, y, 4, cols, SoftmaxForm::plain, {});
        EXPECT_EQ(y.host().bytes(),
                  forward_twins(x, DType::f16, 4, cols, SoftmaxForm::plain).cuda.bytes());
    }
}

TEST(CudaSoftmaxBackward, MeetsTheCpuForEveryTypeAndWidth) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (DType to : {dtype, DType::f16, DType::bf16})
            for (std::int64_t cols : softmax_twin_widths)
                for (bool log : {false, true}) {
                    const std::int64_t rows = 3, skip = cols % 2;
                    const Buffer x = random_buffer(dtype, rows * cols, 8);
                    const Buffer dy = random_buffer(dtype, rows * cols + skip, 9);
                    Buffer y(dtype, rows * cols + skip);
                    cpu::softmax_forward(from(y, skip), x, rows, cols, form_of(log), {});
                    const auto results = run_twins(
                        cpu::softmax_backward, cuda::softmax_backward, to, rows * cols, {dy, y},
                        skip, [&](SoftmaxBackward f, Array dx, const std::vector<ConstArray>& in) {
                            f(dx, in[0], in[1], rows, cols, log, {});
                        });
                    const double unit = dtype == DType::f64 ? 0x1p-51 : 0x1p-22;
                    for (std::int64_t r = 0; r < rows; ++r) {
                        double magnitude = 0;
                        for (std::int64_t k = r * cols + skip; k < (r + 1) * cols + skip; ++k)
                            magnitude += std::fabs(log ? dy.get(k) : dy.get(k) * y.get(k));
                        for (std::int64_t k = r * cols + skip; k < (r + 1) * cols + skip; ++k) {
                            const double expected = results.cpu.get(k);
                            const double factor = log ? std::exp(y.get(k)) : y.get(k);
                            // Each twin's sum is off by at most 150 units of its magnitudes.
                            const double slack =
                                unit * (150 * factor * magnitude + 4 * std::fabs(dy.get(k)) +
                                        4 * std::fabs(expected)) +
                                half_ulp(to, expected);
                            ASSERT_TRUE(near(results.cuda.get(k), expected, to, slack));
                        }
                    }
                }
}

TEST(CudaSoftmax, StartsNothingForNoRows) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0), labels(DType::i64, 0), one(DType::f32, 1);
    const auto before = cuda::call_counts().launches;
    cuda::softmax_forward(none, none, 0, 10, SoftmaxForm::plain, {});
    cuda::softmax_backward(none, none, none, 0, 10, false, {});
    EXPECT_TRUE(cuda::cross_entropy_forward(none, none, none, labels, 0, 10, -100, {}, {}));
    cuda::cross_entropy_backward(none, one, none, none, labels, 0, 10, -100, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
