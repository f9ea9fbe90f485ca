#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/batch_norm.h"
#include "kernels/batch_norm_problem.h"
#include "kernels/device_array.h"
#include "kernels/support.h"
#include "kernels/targets.h"

// Batch norm's forward pass: statistics, running statistics, results in training and inference.
namespace kernels::test::batch_norm {
namespace {

struct Moments {
    double mean, biased, unbiased;
};

Moments moments(const Buffer& x, std::int64_t rows, std::int64_t channels, std::int64_t c) {
    double sum = 0, squares = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += x.get(r * channels + c);
    const double mean = sum / static_cast<double>(rows);
    for (std::int64_t r = 0; r < rows; ++r)
        squares += (x.get(r * channels + c) - mean) * (x.get(r * channels + c) - mean);
    const auto n = static_cast<double>(rows);
    return {mean, squares / n, squares / std::max(n - 1, 1.0)};
}

void expect_batch_norm_forward(DType dtype, std::int64_t rows, std::int64_t channels,
                               bool with_residual, bool relu) {
    Case t(dtype, rows, channels);
    const Buffer old_mean = t.running_mean, old_var = t.running_var;
    t.forward(with_residual, relu);
    const double unit = unit_of(dtype);
    for (std::int64_t c = 0; c < channels; ++c) {
        const Moments m = moments(t.x, rows, channels, c);
        const double deviation = std::sqrt(m.biased);
        const double mean_slack = block_steps * unit * (std::fabs(m.mean) + deviation);
        ASSERT_NEAR(t.mean.get(c), m.mean, mean_slack);
        const double invstd = 1 / std::sqrt(m.biased + t.shape.eps);
        ASSERT_NEAR(t.invstd.get(c), invstd, block_steps * unit * invstd);
        ASSERT_NEAR(t.running_mean.get(c), 0.9 * old_mean.get(c) + 0.1 * m.mean,
                    mean_slack + unit * std::fabs(old_mean.get(c)));
        ASSERT_NEAR(t.running_var.get(c), 0.9 * old_var.get(c) + 0.1 * m.unbiased,
                    2 * block_steps * unit * (m.unbiased + old_var.get(c)));
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t i = r * channels + c;
            const double xhat = (t.x.get(i) - m.mean) * invstd;
            double expected = xhat * t.weight.get(c) + t.bias.get(c);
            const double extra = with_residual ? t.residual.get(i) : 0;
            expected += extra;
            const double slack =
                2 * block_steps * unit *
                (std::fabs(t.weight.get(c)) * (std::fabs(xhat) + (1 + std::fabs(m.mean)) * invstd) +
                 std::fabs(t.bias.get(c)) + std::fabs(extra));
            if (relu && expected <= 0) expected = 0;
            ASSERT_TRUE(near(t.y.get(i), expected, dtype, slack));
        }
    }
}

TEST(BatchNorm, NormalisesEveryTypeAndShape) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t channels : {1, 3, 16, 33, 64, 100})
                for (std::int64_t rows : {2, 31, 300})
                    expect_batch_norm_forward(dtype, rows, channels, false, false);
    });
}

TEST(BatchNorm, AddsTheResidualBeforeTheRelu) {
    for (DType dtype : floating)
        for (bool with_residual : {false, true})
            for (bool relu : {false, true})
                expect_batch_norm_forward(dtype, 200, 40, with_residual, relu);
}

TEST(BatchNorm, DoesNotCancelForMean100AndDeviation001) {
    on_every_target([] {
        Case t(DType::f32, 5000, 20, 100, 0.01);
        t.forward(false, false);
        for (std::int64_t c = 0; c < 20; ++c) {
            const Moments m = moments(t.x, 5000, 20, c);
            EXPECT_NEAR(t.invstd.get(c) * std::sqrt(m.biased + 1e-5), 1, 1e-4);
            EXPECT_NEAR(t.mean.get(c), m.mean, 1e-5);
        }
    });
}

TEST(BatchNorm, StoresTheBiasedVarianceOfASingleRow) {
    Case t(DType::f32, 1, 5);
    const Buffer old = t.running_var;
    t.forward(false, false);
    for (std::int64_t c = 0; c < 5; ++c) {
        EXPECT_NEAR(t.running_var.get(c), 0.9 * old.get(c), 1e-6);
        EXPECT_NEAR(t.y.get(c), t.bias.get(c), 1e-6);
    }
}

TEST(BatchNorm, TakesNullParametersAsOneAndZeroAndKeepsNoStatistics) {
    Case t(DType::bf16, 100, 8);
    const Array none{nullptr, DType::f32, 0};
    cpu::batch_norm_forward_train(t.y, t.mean, t.invstd, none, none, t.x, none, none, none, false,
                                  t.shape, {});
    for (std::int64_t i = 0; i < 800; ++i) {
        const double expected = (t.x.get(i) - t.mean.get(i % 8)) * t.invstd.get(i % 8);
        ASSERT_TRUE(near(t.y.get(i), expected, DType::bf16, 1e-5));
    }
}

TEST(BatchNorm, UsesTheRunningStatisticsForInference) {
    for (DType dtype : floating) {
        Case t(dtype, 77, 33);
        cpu::batch_norm_forward_infer(t.y, t.x, t.weight, t.bias, t.running_mean, t.running_var,
                                      t.residual, true, t.shape, {});
        for (std::int64_t i = 0; i < t.x.size(); ++i) {
            const std::int64_t c = i % 33;
            const double scale = t.weight.get(c) / std::sqrt(t.running_var.get(c) + t.shape.eps);
            const double exact =
                (t.x.get(i) - t.running_mean.get(c)) * scale + t.bias.get(c) + t.residual.get(i);
            const double slack = 8 * unit_of(dtype) * (std::fabs(exact) + 20);
            ASSERT_TRUE(near(t.y.get(i), std::max(exact, 0.0), dtype, slack));
        }
    }
}

TEST(BatchNorm, LetsNaNThroughInItsOwnChannelOnly) {
    Case t(DType::f32, 200, 20);
    t.x.set(5 * 20 + 3, static_cast<double>(nan));
    t.forward(false, true);
    for (std::int64_t i = 0; i < t.y.size(); ++i)
        ASSERT_EQ(std::isnan(t.y.get(i)), i % 20 == 3) << i;
}

/// Rounding of the device's sums: batches of 8 in a thread, at most `rows` of them, then a tree.
/// The terms are distances from the channel's first value, so numbers up to twice the spread.
double mean_slack(const Exact& e, const TwinCase& c) {
    return static_cast<double>(c.rows + 20) * half_unit_of(c.dtype) * 2 * e.spread +
           half_unit_of(c.dtype) * std::fabs(e.mean);
}

void expect_trained(const TwinCase& c) {
    SCOPED_TRACE(::testing::Message()
                 << c.rows << " x " << c.channels << " dtype " << static_cast<int>(c.dtype));
    Operands o(c);
    const DType wide = compute_type(c.dtype);
    const DeviceBuffer y(c.dtype, o.n), mean(wide, c.channels), invstd(wide, c.channels);
    cuda::batch_norm_forward_train(y, mean, invstd, o.device_running_mean, o.device_running_var,
                                   o.device_x, given(c.affine, o.device_weight),
                                   given(c.affine, o.device_bias),
                                   given(c.residual, o.device_residual), c.relu, o.shape, {});
    const Buffer actual = y.host(), means = mean.host(), invstds = invstd.host(),
                 new_mean = o.device_running_mean.host(), new_var = o.device_running_var.host();
    const double unit = half_unit_of(c.dtype);
    for (std::int64_t k = 0; k < c.channels; ++k) {
        const Exact e(o.x, o.shape, k);
        ASSERT_TRUE(near(means.get(k), e.mean, wide, mean_slack(e, c)));
        const double exact = 1 / std::sqrt(e.variance + o.shape.eps);
        // Squares err by a few units per addition, and the root by half of that.
        ASSERT_TRUE(near(invstds.get(k), exact, wide,
                         (static_cast<double>(c.rows) + 40) * 4 * unit * exact));
        ASSERT_TRUE(near(new_mean.get(k), 0.9 * o.running_mean.get(k) + 0.1 * e.mean,
                         new_mean.dtype(), mean_slack(e, c)));
        const double unbiased = e.squares / std::max(1.0, static_cast<double>(c.rows - 1));
        ASSERT_TRUE(near(new_var.get(k), 0.9 * o.running_var.get(k) + 0.1 * unbiased,
                         new_var.dtype(),
                         (static_cast<double>(c.rows) + 40) * 4 * unit * unbiased));
        for (std::int64_t r = 0; r < c.rows; ++r) {
            const std::int64_t i = r * c.channels + k;
            const double w = c.affine ? o.weight.get(k) : 1, b = c.affine ? o.bias.get(k) : 0;
            const double centred = o.x.get(i) - means.get(k);
            const double more = c.residual ? o.residual.get(i) : 0;
            double expected = centred * invstds.get(k) * w + b + more;
            const double size =
                std::fabs(centred * invstds.get(k) * w) + std::fabs(b) + std::fabs(more);
            if (c.relu) expected = std::max(expected, 0.0);
            ASSERT_TRUE(near(actual.get(i), expected, c.dtype, 4 * unit * size)) << i;
        }
    }
}

TEST(CudaBatchNorm, NormalisesByTheBatchsStatistics) {
    HALFTONE_NEEDS_CUDA();
    for (const TwinCase& c : cases()) expect_trained(c);
}

TEST(CudaBatchNorm, LosesNothingToAMeanFarFromZero) {
    HALFTONE_NEEDS_CUDA();
    TwinCase c{3000, 6};
    c.mean = 100;
    c.deviation = 0.01;
    const Operands o(c);
    const DeviceBuffer y(c.dtype, o.n), mean(DType::f32, 6), invstd(DType::f32, 6);
    cuda::batch_norm_forward_train(y, mean, invstd, no_array, no_array, o.device_x, no_array,
                                   no_array, no_array, false, o.shape, {});
    for (std::int64_t k = 0; k < 6; ++k) {
        const Exact e(o.x, o.shape, k);
        EXPECT_NEAR(mean.host().get(k), e.mean, 0x1p-18);  // half a unit of 100
        EXPECT_NEAR(invstd.host().get(k) * std::sqrt(e.variance + 1e-5), 1, 1e-5);
    }
}

TEST(CudaBatchNorm, GivesTheSameBitsInEveryRun) {
    HALFTONE_NEEDS_CUDA();
    const Operands o(TwinCase{5000, 20});
    std::optional<Buffer> first;
    for (int run = 0; run < 2; ++run) {
        const DeviceBuffer y(DType::f32, o.n), mean(DType::f32, 20), invstd(DType::f32, 20);
        cuda::batch_norm_forward_train(y, mean, invstd, no_array, no_array, o.device_x, no_array,
                                       no_array, no_array, false, o.shape, {});
        if (!first) first = y.host();
        EXPECT_EQ(y.host().bytes(), first->bytes());
    }
}

TEST(CudaBatchNorm, SaysNoMomentsOfNoRowsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0), mean(DType::f32, 3), invstd(DType::f32, 3);
    cuda::batch_norm_forward_train(none, mean, invstd, no_array, no_array, none, no_array, no_array,
                                   no_array, false, {0, 3}, {});
    EXPECT_EQ(mean.host().get(0), 0);
    EXPECT_TRUE(std::isnan(invstd.host().get(2)));
}

TEST(CudaBatchNorm, InfersTheCpusBits) {
    HALFTONE_NEEDS_CUDA();
    for (const TwinCase& c : cases()) {
        Operands o(c);
        if (o.n > 8) {
            o.x.set(3, std::nan(""));
            o.x.set(5, HUGE_VAL);
        }
        const DeviceBuffer x(o.x);
        Buffer expected(c.dtype, o.n);
        cpu::batch_norm_forward_infer(expected, o.x, given(c.affine, o.weight),
                                      given(c.affine, o.bias), o.running_mean, o.running_var,
                                      given(c.residual, o.residual), c.relu, o.shape, {});
        const DeviceBuffer y(c.dtype, o.n);
        cuda::batch_norm_forward_infer(y, x, given(c.affine, o.device_weight),
                                       given(c.affine, o.device_bias), o.device_running_mean,
                                       o.device_running_var, given(c.residual, o.device_residual),
                                       c.relu, o.shape, {});
        const Buffer actual = y.host();
        for (std::int64_t i = 0; i < o.n; ++i)
            // A processor without fused multiply-add rounds once more.
            ASSERT_TRUE(near(actual.get(i), expected.get(i), c.dtype,
                             half_unit_of(c.dtype) * (std::fabs(o.x.get(i)) + 10)))
                << i;
    }
}

}  // namespace
}  // namespace kernels::test::batch_norm
