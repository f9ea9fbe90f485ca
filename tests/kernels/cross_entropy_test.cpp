#include <gtest/gtest.h>

#include "kernels/device_array.h"
#include "kernels/softmax.h"
#include "kernels/softmax_reference.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

const std::vector<std::int64_t> class_counts = {1, 2, 3, 4, 7, 8, 10, 31, 32, 33, 1000};

struct CrossEntropyData {
    Buffer logits, target, stats, losses;
};

CrossEntropyData cross_entropy_data(DType dtype, std::int64_t rows, std::int64_t cols) {
    const DType wide = wide_of(dtype);
    CrossEntropyData d{random_buffer(dtype, rows * cols, 5, 0, 3), Buffer(DType::i64, rows),
                       Buffer(wide, 2 * rows), Buffer(wide, rows)};
    for (std::int64_t r = 0; r < rows; ++r)
        d.target.set(r, static_cast<double>(r % 4 == 3 ? -100 : r % cols));
    return d;
}

/// (x - max) - log_sum, with the roundings of the computing type.
double log_probability(const Buffer& logits, const Buffer& stats, std::int64_t row,
                       std::int64_t cols, std::int64_t col) {
    const double x = logits.get(row * cols + col), max = stats.get(2 * row),
                 log_sum = stats.get(2 * row + 1);
    if (stats.dtype() == DType::f64) return x - max - log_sum;
    const float shifted = static_cast<float>(x) - static_cast<float>(max);
    return static_cast<double>(shifted - static_cast<float>(log_sum));
}

TEST(CrossEntropy, MeetsTheReferenceAndSkipsIgnoredRows) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : class_counts) {
                const std::int64_t rows = 9;
                auto d = cross_entropy_data(dtype, rows, cols);
                ASSERT_TRUE(cpu::cross_entropy_forward(d.stats, d.losses, d.logits, d.target, rows,
                                                       cols, -100, {}, {}));
                for (std::int64_t r = 0; r < rows; ++r) {
                    if (r % 4 == 3) {
                        EXPECT_EQ(d.losses.get(r), 0);
                        EXPECT_EQ(d.stats.get(2 * r), 0);
                        EXPECT_EQ(d.stats.get(2 * r + 1), 0);
                        continue;
                    }
                    const auto expected = softmax_row(d.logits, r, cols, true);
                    for (std::int64_t c = 0; c < cols; ++c) {
                        const double e = expected[static_cast<std::size_t>(c)];
                        ASSERT_NEAR(log_probability(d.logits, d.stats, r, cols, c), e,
                                    softmax_slack(dtype, 32, e, true));
                    }
                    EXPECT_EQ(d.losses.get(r),
                              -log_probability(d.logits, d.stats, r, cols, r % cols));
                }
            }
    });
}

TEST(CrossEntropy, HasTheBitsOfLogSoftmaxInTheLossAndInTheGradient) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : {1, 2, 3, 5, 8, 10, 33, 33'278}) {
                const std::int64_t rows = 5;
                auto d = cross_entropy_data(dtype, rows, cols);
                const DType wide = wide_of(dtype);
                Buffer log_probs(wide, rows * cols), gradient(dtype, rows * cols);
                const Buffer scale(wide, {0.37});
                cpu::softmax_forward(log_probs, d.logits, rows, cols, SoftmaxForm::log, {});
                cpu::cross_entropy_forward(d.stats, d.losses, d.logits, d.target, rows, cols, -100,
                                           {}, {});
                cpu::cross_entropy_backward(gradient, scale, d.logits, d.stats, d.target, rows,
                                            cols, -100, {});
                // The gradient from log-probabilities: these are logits with maximum 0 and
                // logarithm of the sum 0.
                Buffer from_log_probs(wide, rows * cols);
                const Buffer none(wide, 2 * rows);
                cpu::cross_entropy_backward(from_log_probs, scale, log_probs, none, d.target, rows,
                                            cols, -100, {});
                Buffer rounded(dtype, rows * cols);
                for (std::int64_t i = 0; i < rows * cols; ++i)
                    rounded.set(i, from_log_probs.get(i));
                EXPECT_EQ(gradient.bytes(), rounded.bytes());
                for (std::int64_t r = 0; r < rows; ++r) {
                    if (r % 4 == 3) continue;
                    EXPECT_EQ(d.losses.get(r), -log_probs.get(r * cols + r % cols));
                }
            }
    });
}

TEST(CrossEntropy, RefusesALabelOutsideTheClasses) {
    for (std::int64_t label : {-1, 10}) {
        auto d = cross_entropy_data(DType::f32, 3, 10);
        d.target.set(1, static_cast<double>(label));
        EXPECT_FALSE(
            cpu::cross_entropy_forward(d.stats, d.losses, d.logits, d.target, 3, 10, -100, {}, {}));
    }
}

TEST(CrossEntropyBackward, MeetsTheReferenceWithOneScaleOrOnePerRow) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : class_counts)
                for (std::int64_t scales : {1, 9}) {
                    const std::int64_t rows = 9;
                    auto d = cross_entropy_data(dtype, rows, cols);
                    cpu::cross_entropy_forward(d.stats, d.losses, d.logits, d.target, rows, cols,
                                               -100, {}, {});
                    const Buffer scale = random_buffer(d.stats.dtype(), scales, 6, 100, 30);
                    Buffer dlogits(dtype, rows * cols);
                    cpu::cross_entropy_backward(dlogits, scale, d.logits, d.stats, d.target, rows,
                                                cols, -100, {});
                    for (std::int64_t i = 0; i < dlogits.size(); ++i) {
                        const std::int64_t r = i / cols;
                        const double factor = scale.get(scales == 1 ? 0 : r);
                        const double p =
                            std::exp(log_probability(d.logits, d.stats, r, cols, i % cols));
                        const double hit = i % cols == r % cols ? 1 : 0;
                        const double expected = r % 4 == 3 ? 0 : factor * (p - hit);
                        // exp has 2 units; difference and product 1 each, relative to p + hit.
                        const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
                        const double slack = 4 * unit * std::fabs(factor) * (p + hit);
                        ASSERT_TRUE(near(dlogits.get(i), expected, dtype, slack));
                    }
                }
    });
}

TEST(CrossEntropyBackward, MayWriteOverTheLogits) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : class_counts) {
                auto d = cross_entropy_data(dtype, 9, cols);
                cpu::cross_entropy_forward(d.stats, d.losses, d.logits, d.target, 9, cols, -100, {},
                                           {});
                const Buffer scale(d.stats.dtype(), {0.25});
                Buffer expected(dtype, d.logits.size());
                cpu::cross_entropy_backward(expected, scale, d.logits, d.stats, d.target, 9, cols,
                                            -100, {});
                cpu::cross_entropy_backward(d.logits, scale, d.logits, d.stats, d.target, 9, cols,
                                            -100, {});
                EXPECT_EQ(d.logits.bytes(), expected.bytes());
            }
    });
}

TEST(CrossEntropyBackward, IgnoredRowsAre0WhateverTheyHold) {
    for (DType dtype : floating)
        for (std::int64_t cols : {2, 3, 33}) {
            auto d = cross_entropy_data(dtype, 4, cols);
            for (std::int64_t c = 0; c < cols; ++c) d.logits.set(3 * cols + c, std::nan(""));
            cpu::cross_entropy_forward(d.stats, d.losses, d.logits, d.target, 4, cols, -100, {},
                                       {});
            const Buffer scale(d.stats.dtype(), {0.25});
            cpu::cross_entropy_backward(d.logits, scale, d.logits, d.stats, d.target, 4, cols, -100,
                                        {});
            EXPECT_EQ(d.losses.get(3), 0);
            for (std::int64_t c = 0; c < cols; ++c) ASSERT_EQ(d.logits.get(3 * cols + c), 0);
        }
}

/// Narrow rows share a vector.
TEST(CrossEntropy, ComputesARowAsByItselfWhateverItsNeighboursHold) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : class_counts) {
                const std::int64_t rows = 20;
                auto d = cross_entropy_data(dtype, rows, cols);
                d.logits = awkward_buffer(dtype, rows * cols, 8);
                const Buffer scale = random_buffer(d.stats.dtype(), rows, 9);
                Buffer dlogits(dtype, rows * cols);
                cpu::cross_entropy_forward(d.stats, d.losses, d.logits, d.target, rows, cols, -100,
                                           {}, {});
                cpu::cross_entropy_backward(dlogits, scale, d.logits, d.stats, d.target, rows, cols,
                                            -100, {});
                for (std::int64_t r = 0; r < rows; ++r) {
                    // As the first of so few that no vector holds two.
                    CrossEntropyData one{Buffer(dtype, cols), Buffer(DType::i64, 1),
                                         Buffer(d.stats.dtype(), 2), Buffer(d.stats.dtype(), 1)};
                    for (std::int64_t c = 0; c < cols; ++c)
                        one.logits.set(c, d.logits.get(r * cols + c));
                    one.target.set(0, d.target.get(r));
                    const Buffer factor(d.stats.dtype(), {scale.get(r)});
                    Buffer gradient(dtype, cols);
                    cpu::cross_entropy_forward(one.stats, one.losses, one.logits, one.target, 1,
                                               cols, -100, {}, {});
                    cpu::cross_entropy_backward(gradient, factor, one.logits, one.stats, one.target,
                                                1, cols, -100, {});
                    Buffer found(dtype, cols);
                    for (std::int64_t c = 0; c < cols; ++c) found.set(c, dlogits.get(r * cols + c));
                    ASSERT_TRUE(same(found, gradient)) << "row " << r << " of " << cols;
                    ASSERT_TRUE(same(Buffer(d.stats.dtype(), {d.losses.get(r)}), one.losses));
                }
            }
    });
}

constexpr std::int64_t ignored_class = -100;
const std::vector<std::int64_t> twin_class_counts = {1, 2, 10, 33, 1000, 1025, 3001};

/// Every fourth label is ignored.
Buffer labels_of(std::int64_t rows, std::int64_t cols) {
    Buffer target(DType::i64, rows);
    for (std::int64_t r = 0; r < rows; ++r)
        target.set(r, static_cast<double>(r % 4 == 3 ? ignored_class : r * 37 % cols));
    return target;
}

/// The label as an integer: -100, 0, 1, ... are exact in double too.
std::int64_t label_of(const Buffer& target, std::int64_t row) {
    return static_cast<std::int64_t>(target.get(row));
}

struct CrossEntropyForward {
    Buffer stats, losses;
};

CrossEntropyForward cross_entropy_on_cpu(const Buffer& logits, const Buffer& target,
                                         std::int64_t cols) {
    const DType wide = wide_of(logits.dtype());
    CrossEntropyForward y{{wide, 2 * target.size()}, {wide, target.size()}};
    EXPECT_TRUE(cpu::cross_entropy_forward(y.stats, y.losses, logits, target, target.size(), cols,
                                           ignored_class, {}, {}));
    return y;
}

CrossEntropyForward cross_entropy_on_cuda(const Buffer& logits, const Buffer& target,
                                          std::int64_t cols,
                                          const DeferredErrorPlace& refused = {}) {
    const DType wide = wide_of(logits.dtype());
    const DeviceBuffer x(logits), labels(target), stats(wide, 2 * target.size()),
        losses(wide, target.size());
    EXPECT_TRUE(cuda::cross_entropy_forward(stats, losses, x, labels, target.size(), cols,
                                            ignored_class, refused, {}));
    return {stats.host(), losses.host()};
}

TEST(CudaCrossEntropy, MeetsTheCpuAndSkipsIgnoredRows) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t cols : twin_class_counts) {
            const std::int64_t rows = 9;
            const Buffer logits = random_buffer(dtype, rows * cols, 1, 0, 3);
            const Buffer target = labels_of(rows, cols);
            const CrossEntropyForward expected = cross_entropy_on_cpu(logits, target, cols);
            const CrossEntropyForward actual = cross_entropy_on_cuda(logits, target, cols);
            // As in the tests of log softmax: for each twin 150 units and 2 of the value.
            const double unit = dtype == DType::f64 ? 0x1p-51 : 0x1p-22;
            for (std::int64_t r = 0; r < rows; ++r) {
                const std::int64_t label = label_of(target, r);
                ASSERT_EQ(actual.stats.get(2 * r), expected.stats.get(2 * r));
                const double e = expected.stats.get(2 * r + 1);
                ASSERT_NEAR(actual.stats.get(2 * r + 1), e, unit * (182 + 2 * std::fabs(e)));
                if (label == ignored_class) {
                    EXPECT_EQ(actual.stats.get(2 * r + 1), 0);
                    EXPECT_EQ(actual.losses.get(r), 0);
                } else {
                    EXPECT_EQ(actual.losses.get(r),
                              -log_probability(logits, actual.stats, r, cols, label));
                }
            }
        }
}

TEST(CudaCrossEntropy, GivesNaNInRowsOfALabelOutsideTheClasses) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t cols : {10, 1500})
            for (std::int64_t label : {std::int64_t{-1}, cols, std::int64_t{1} << 60}) {
                const Buffer logits = random_buffer(dtype, 3 * cols, 2);
                Buffer target = labels_of(3, cols);
                target.as<std::int64_t>()[1] = label;
                const CrossEntropyForward y = cross_entropy_on_cuda(logits, target, cols);
                const DeviceBuffer dx(logits), stats(y.stats), labels(target),
                    scale(Buffer(y.stats.dtype(), {0.25}));
                cuda::cross_entropy_backward(dx, scale, dx, stats, labels, 3, cols, ignored_class,
                                             {});
                const Buffer gradient = dx.host();
                EXPECT_TRUE(std::isnan(y.losses.get(1)));
                for (std::int64_t c = 0; c < cols; ++c) {
                    ASSERT_TRUE(std::isnan(gradient.get(cols + c)));
                    ASSERT_TRUE(std::isfinite(gradient.get(c)));
                    ASSERT_TRUE(std::isfinite(gradient.get(2 * cols + c)));
                }
                EXPECT_TRUE(std::isfinite(y.losses.get(0) + y.losses.get(2)));
            }
}

TEST(CudaCrossEntropy, MayIgnoreAClassOfTheLogits) {
    HALFTONE_NEEDS_CUDA();
    const Buffer logits = random_buffer(DType::f32, 20, 3), target(DType::i64, {7, 3});
    const DeviceBuffer x(logits), labels(target), stats(DType::f32, 4), losses(DType::f32, 2);
    cuda::cross_entropy_forward(stats, losses, x, labels, 2, 10, 7, {}, {});
    EXPECT_EQ(losses.host().get(0), 0);
    EXPECT_EQ(losses.host().get(1), -log_probability(logits, stats.host(), 1, 10, 3));
}

TEST(CudaCrossEntropyBackward, MeetsTheCpuWithOneScaleOrOnePerRow) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (std::int64_t cols : twin_class_counts)
            for (std::int64_t scales : {1, 9}) {
                const std::int64_t rows = 9;
                const Buffer target = labels_of(rows, cols);
                const Buffer logits = random_buffer(dtype, rows * cols, 4, 0, 3);
                const Buffer stats = cross_entropy_on_cpu(logits, target, cols).stats;
                const Buffer scale = random_buffer(stats.dtype(), scales, 5, 100, 30);
                const auto results = run_twins(
                    cpu::cross_entropy_backward, cuda::cross_entropy_backward, dtype, rows * cols,
                    {scale, logits, stats, target}, 0,
                    [&](CrossEntropyBackward f, Array y, const std::vector<ConstArray>& in) {
                        f(y, in[0], in[1], in[2], in[3], rows, cols, ignored_class, {});
                    });
                for (std::int64_t i = 0; i < rows * cols; ++i) {
                    const std::int64_t r = i / cols;
                    const double expected = results.cpu.get(i);
                    const double p = std::exp(log_probability(logits, stats, r, cols, i % cols));
                    const double hit = i % cols == label_of(target, r) ? 1 : 0;
                    // For each twin: exp 2 units; difference and product 1, relative to p + hit.
                    const double unit = dtype == DType::f64 ? 0x1p-51 : 0x1p-22;
                    const double slack = 4 * unit * scale.get(scales == 1 ? 0 : r) * (p + hit) +
                                         half_ulp(dtype, expected);
                    if (r % 4 == 3) {
                        ASSERT_EQ(results.cuda.get(i), 0);
                        continue;
                    }
                    ASSERT_TRUE(near(results.cuda.get(i), expected, dtype, slack));
                }
            }
}

TEST(CudaCrossEntropyBackward, MayWriteOverTheLogits) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t cols : {33, 1500}) {
            const Buffer target = labels_of(9, cols);
            const Buffer logits = random_buffer(dtype, 9 * cols, 6);
            const Buffer kept = cross_entropy_on_cpu(logits, target, cols).stats;
            const DeviceBuffer labels(target), scale(Buffer(kept.dtype(), {0.25})), in(logits),
                stats(kept), expected(dtype, 9 * cols);
            cuda::cross_entropy_backward(expected, scale, in, stats, labels, 9, cols, ignored_class,
                                         {});
            cuda::cross_entropy_backward(in, scale, in, stats, labels, 9, cols, ignored_class, {});
            EXPECT_EQ(in.host().bytes(), expected.host().bytes());
        }
}

TEST(CudaCrossEntropy, TakesTheMeanOverTheRowsThatCount) {
    HALFTONE_NEEDS_CUDA();
    for (const DType wide : {DType::f32, DType::f64})
        for (const DType to : {DType::f32, DType::f64, DType::f16})
            for (const std::int64_t rows : {1, 5, 257, 3000}) {
                const Buffer losses = random_buffer(wide, rows, 3, 2, 1);
                Buffer target(DType::i64, rows), first(wide, rows);
                double sum = 0, count = 0;
                for (std::int64_t r = 0; r < rows; ++r) {
                    const bool ignored = r % 4 == 3;
                    target.set(r, ignored ? -100 : static_cast<double>(r % 7));
                    first.set(r, ignored ? 0 : losses.get(r));
                    sum += first.get(r);
                    count += ignored ? 0 : 1;
                }
                const DeviceBuffer mean(to, 1), factor(wide, 1), on_device(first), classes(target);
                cuda::cross_entropy_mean(mean, factor, on_device, classes, -100, {});
                const double unit = wide == DType::f64 ? 0x1p-52 : 0x1p-23;
                EXPECT_NEAR(factor.host().get(0), 1 / count, unit / count);
                EXPECT_TRUE(near(mean.host().get(0), sum / count, to, 2 * unit * sum / count));
            }
    const DeviceBuffer mean(DType::f32, 1), factor(DType::f32, 1), losses(Buffer(DType::f32, 2)),
        none(Buffer(DType::i64, 2));
    cuda::cross_entropy_mean(mean, factor, losses, none, 0, {});
    EXPECT_TRUE(std::isnan(mean.host().get(0))) << "no row counts";
}

}  // namespace
}  // namespace kernels::test
