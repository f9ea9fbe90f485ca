#include <gtest/gtest.h>

#include "kernels/softmax.h"
#include "kernels/softmax_reference.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

const std::vector<std::int64_t> widths = {1, 2, 10, 31, 32, 33, 1000};

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

constexpr std::int64_t ignored = -100;
const std::vector<std::int64_t> twin_widths = {1, 2, 10, 33, 1000, 1025, 3001};

DType wide_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Every fourth is ignored.
Buffer labels_of(std::int64_t rows, std::int64_t cols) {
    Buffer target(DType::i64, rows);
    for (std::int64_t r = 0; r < rows; ++r)
        target.set(r, static_cast<double>(r % 4 == 3 ? ignored : r * 37 % cols));
    return target;
}

/// -100, 0, 1, ... are doubles too.
std::int64_t label_of(const Buffer& target, std::int64_t row) {
    return static_cast<std::int64_t>(target.get(row));
}

struct Forward {
    Buffer log_probs, losses;
};

Forward on_cpu(const Buffer& logits, const Buffer& target, std::int64_t cols) {
    Forward y{{wide_of(logits.dtype()), logits.size()}, {wide_of(logits.dtype()), target.size()}};
    EXPECT_TRUE(cpu::cross_entropy_forward(y.log_probs, y.losses, logits, target, target.size(),
                                           cols, ignored, {}, {}));
    return y;
}

Forward on_cuda(const Buffer& logits, const Buffer& target, std::int64_t cols,
                const RefusalPlace& refused = {}) {
    const DType wide = wide_of(logits.dtype());
    const DeviceBuffer x(logits), labels(target), log_probs(wide, x.array().size),
        losses(wide, target.size());
    EXPECT_TRUE(cuda::cross_entropy_forward(log_probs, losses, x, labels, target.size(), cols,
                                            ignored, refused, {}));
    return {log_probs.host(), losses.host()};
}

TEST(CudaCrossEntropy, MeetsTheCpuAndSkipsIgnoredRows) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t cols : twin_widths) {
            const std::int64_t rows = 9;
            const Buffer logits = random_buffer(dtype, rows * cols, 1, 0, 3);
            const Buffer target = labels_of(rows, cols);
            const Forward expected = on_cpu(logits, target, cols);
            const Forward actual = on_cuda(logits, target, cols);
            // As in the tests of log softmax: each twin 150 units and 2 of the value.
            const double unit = dtype == DType::f64 ? 0x1p-51 : 0x1p-22;
            for (std::int64_t i = 0; i < rows * cols; ++i) {
                const double e = expected.log_probs.get(i);
                ASSERT_NEAR(actual.log_probs.get(i), e, unit * (182 + 2 * std::fabs(e)));
            }
            for (std::int64_t r = 0; r < rows; ++r) {
                const std::int64_t label = label_of(target, r);
                EXPECT_EQ(actual.losses.get(r),
                          label == ignored ? 0 : -actual.log_probs.get(r * cols + label));
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
                const Forward y = on_cuda(logits, target, cols);
                EXPECT_TRUE(std::isnan(y.losses.get(1)));
                for (std::int64_t c = 0; c < cols; ++c) {
                    ASSERT_TRUE(std::isnan(y.log_probs.get(cols + c)));
                    ASSERT_TRUE(std::isfinite(y.log_probs.get(c)));
                    ASSERT_TRUE(std::isfinite(y.log_probs.get(2 * cols + c)));
                }
                EXPECT_TRUE(std::isfinite(y.losses.get(0) + y.losses.get(2)));
            }
}

TEST(CudaCrossEntropy, MayIgnoreAClassOfTheLogits) {
    HALFTONE_NEEDS_CUDA();
    const Buffer logits = random_buffer(DType::f32, 20, 3), target(DType::i64, {7, 3});
    const DeviceBuffer x(logits), labels(target), log_probs(DType::f32, 20), losses(DType::f32, 2);
    cuda::cross_entropy_forward(log_probs, losses, x, labels, 2, 10, 7, {}, {});
    EXPECT_EQ(losses.host().get(0), 0);
    EXPECT_EQ(losses.host().get(1), -log_probs.host().get(13));
}

TEST(CudaCrossEntropyBackward, MeetsTheCpuWithOneScaleOrOnePerRow) {
    HALFTONE_NEEDS_CUDA();
    struct Types {
        DType dlogits, log_probs;
    };
    for (const Types& types : {Types{DType::f32, DType::f32},
                               {DType::f16, DType::f32},
                               {DType::bf16, DType::f32},
                               {DType::f64, DType::f64},
                               {DType::bf16, DType::f64}})
        for (std::int64_t cols : twin_widths)
            for (std::int64_t scales : {1, 9}) {
                const std::int64_t rows = 9;
                const Buffer target = labels_of(rows, cols);
                const Buffer log_probs =
                    on_cpu(random_buffer(types.log_probs, rows * cols, 4, 0, 3), target, cols)
                        .log_probs;
                const Buffer scale = random_buffer(types.log_probs, scales, 5, 100, 30);
                const auto results = run_twins(
                    cpu::cross_entropy_backward, cuda::cross_entropy_backward, types.dlogits,
                    rows * cols, {scale, log_probs, target}, 0,
                    [&](CrossEntropyBackward f, Array y, const std::vector<ConstArray>& in) {
                        f(y, in[0], in[1], in[2], rows, cols, ignored, {});
                    });
                for (std::int64_t i = 0; i < rows * cols; ++i) {
                    const std::int64_t r = i / cols;
                    const double expected = results.cpu.get(i);
                    const double p = std::exp(log_probs.get(i));
                    const double hit = i % cols == label_of(target, r) ? 1 : 0;
                    // Each twin: exp 2 units; difference and product 1, relative to p + hit.
                    const double unit = types.log_probs == DType::f64 ? 0x1p-51 : 0x1p-22;
                    const double slack = 4 * unit * scale.get(scales == 1 ? 0 : r) * (p + hit) +
                                         half_ulp(types.dlogits, expected);
                    ASSERT_TRUE(near(results.cuda.get(i), expected, types.dlogits, slack));
                    if (r % 4 == 3) {
                        ASSERT_EQ(results.cuda.get(i), 0);
                    }
                }
            }
}

TEST(CudaCrossEntropyBackward, MayWriteOverTheLogProbabilities) {
    HALFTONE_NEEDS_CUDA();
    const Buffer target = labels_of(9, 33);
    const Buffer log_probs = on_cpu(random_buffer(DType::f32, 9 * 33, 6), target, 33).log_probs;
    const DeviceBuffer labels(target), scale(Buffer(DType::f32, {0.25})), in(log_probs),
        expected(DType::f32, 9 * 33);
    cuda::cross_entropy_backward(expected, scale, in, labels, 9, 33, ignored, {});
    cuda::cross_entropy_backward(in, scale, in, labels, 9, 33, ignored, {});
    EXPECT_EQ(in.host().bytes(), expected.host().bytes());
}

}  // namespace
}  // namespace kernels::test
