#include "kernels/batch_norm.h"

#include <gtest/gtest.h>

#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

/// Inputs and outputs of one batch norm; parameters f32, or f64 with f64 x.
struct Case {
    Case(DType dtype, std::int64_t rows, std::int64_t channels, double mean_of_x = 0.5,
         double deviation = 2)
        : shape{rows, channels},
          wide(dtype == DType::f64 ? DType::f64 : DType::f32),
          x(random_buffer(dtype, rows * channels, 1, mean_of_x, deviation)),
          residual(random_buffer(dtype, rows * channels, 2)),
          weight(random_buffer(wide, channels, 3, 1, 0.2)),
          bias(random_buffer(wide, channels, 4)),
          y(dtype, rows * channels),
          mean(wide, channels),
          invstd(wide, channels),
          running_mean(random_buffer(wide, channels, 5)),
          running_var(random_buffer(wide, channels, 6, 2, 0.1)) {}

    void forward(bool with_residual, bool relu) {
        const ConstArray none(nullptr, x.dtype(), 0);
        cpu::batch_norm_forward_train(y, mean, invstd, running_mean, running_var, x, weight, bias,
                                      with_residual ? residual.view() : none, relu, shape, {});
    }

    BatchNormShape shape;
    DType wide;
    Buffer x, residual, weight, bias, y, mean, invstd, running_mean, running_var;
};

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

double unit_of(DType dtype) { return dtype == DType::f64 ? 0x1p-52 : 0x1p-23; }

/// Blocks of 128 rows are summed in f32, joined in double: 128 half units of the largest magnitude.
constexpr double block_steps = 64;

void expect_forward(DType dtype, std::int64_t rows, std::int64_t channels, bool with_residual,
                    bool relu) {
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
                    expect_forward(dtype, rows, channels, false, false);
    });
}

TEST(BatchNorm, AddsTheResidualBeforeTheRelu) {
    for (DType dtype : floating)
        for (bool with_residual : {false, true})
            for (bool relu : {false, true}) expect_forward(dtype, 200, 40, with_residual, relu);
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

void expect_backward(DType dtype, std::int64_t rows, std::int64_t channels, bool relu,
                     bool training) {
    Case t(dtype, rows, channels);
    t.forward(true, relu);
    const Buffer dy = random_buffer(dtype, rows * channels, 7);
    Buffer dx(dtype, dy.size()), dresidual(dtype, dy.size());
    Buffer dweight(t.wide, channels), dbias(t.wide, channels);
    cpu::batch_norm_backward(dx, dresidual, dweight, dbias, dy, t.x, t.y, t.weight, t.mean,
                             t.invstd, relu, training, t.shape, {});
    const double unit = unit_of(dtype);
    const auto n = static_cast<double>(rows);
    for (std::int64_t c = 0; c < channels; ++c) {
        const double mean = t.mean.get(c), invstd = t.invstd.get(c);
        double sum_g = 0, sum_gx = 0, size_g = 0, size_gx = 0;
        const auto g_at = [&](std::int64_t i) { return relu && t.y.get(i) <= 0 ? 0 : dy.get(i); };
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t i = r * channels + c;
            const double xhat = (t.x.get(i) - mean) * invstd;
            sum_g += g_at(i);
            sum_gx += g_at(i) * xhat;
            size_g += std::fabs(g_at(i));
            size_gx += std::fabs(g_at(i) * xhat);
        }
        ASSERT_NEAR(dbias.get(c), sum_g, block_steps * unit * size_g);
        ASSERT_NEAR(dweight.get(c), sum_gx, 2 * block_steps * unit * size_gx);
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t i = r * channels + c;
            const double xhat = (t.x.get(i) - mean) * invstd;
            const double scale = t.weight.get(c) * invstd;
            const double expected =
                scale * (training ? g_at(i) - sum_g / n - xhat * sum_gx / n : g_at(i));
            const double slack = 2 * block_steps * unit * std::fabs(scale) *
                                 (std::fabs(g_at(i)) + size_g / n + std::fabs(xhat) * size_gx / n);
            ASSERT_EQ(dresidual.get(i), g_at(i));
            ASSERT_TRUE(near(dx.get(i), expected, dtype, slack));
        }
    }
}

TEST(BatchNormBackward, MeetsTheReferenceForEveryTypeAndShape) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t channels : {1, 16, 33, 100})
                for (bool relu : {false, true})
                    for (bool training : {false, true})
                        expect_backward(dtype, 300, channels, relu, training);
    });
}

TEST(BatchNorm, GivesTheSameBitsForEveryThreadCount) {
    for (DType dtype : {DType::f32, DType::bf16}) {
        Case one(dtype, 4001, 65);
        const Buffer dy = random_buffer(dtype, one.x.size(), 8);
        const auto run = [&](Case& t, Buffer& dx) {
            const Array none{nullptr, dtype, 0};
            Buffer dweight(DType::f32, 65), dbias(DType::f32, 65);
            t.forward(true, true);
            cpu::batch_norm_backward(dx, none, dweight, dbias, dy, t.x, t.y, t.weight, t.mean,
                                     t.invstd, true, true, t.shape, {});
        };
        Buffer expected(dtype, dy.size());
        cpu::set_threads(1);
        run(one, expected);
        with_threads([&](int) {
            Case t(dtype, 4001, 65);
            Buffer dx(dtype, dy.size());
            run(t, dx);
            EXPECT_EQ(t.y.bytes(), one.y.bytes());
            EXPECT_EQ(t.running_var.bytes(), one.running_var.bytes());
            EXPECT_EQ(dx.bytes(), expected.bytes());
        });
    }
}

TEST(BatchNorm, LetsNaNThroughInItsOwnChannelOnly) {
    Case t(DType::f32, 200, 20);
    t.x.set(5 * 20 + 3, static_cast<double>(nan));
    t.forward(false, true);
    for (std::int64_t i = 0; i < t.y.size(); ++i)
        ASSERT_EQ(std::isnan(t.y.get(i)), i % 20 == 3) << i;
}

}  // namespace
}  // namespace kernels::test
