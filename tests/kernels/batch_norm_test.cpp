#include <gtest/gtest.h>

#include <optional>

#include "kernels/batch_norm.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/elementwise.h"
#include "kernels/sum_tolerance.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

const Array no_array{nullptr, DType::f32, 0};

/// Inputs and outputs of one batch norm. Parameters are f32; with f64 x they are f64.
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

/// Blocks of 128 rows are summed in f32 and combined in double: 128 half units of the largest
/// magnitude.
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
    cpu::batch_norm_backward(dx, dresidual, dweight, dbias, nullptr, dy, no_array, t.x, t.y,
                             t.weight, no_array, t.mean, t.invstd, relu, training, t.shape, {});
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
            cpu::batch_norm_backward(dx, none, dweight, dbias, nullptr, dy, none, t.x, t.y,
                                     t.weight, none, t.mean, t.invstd, true, true, t.shape, {});
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

DType compute_type(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }
double half_unit_of(DType dtype) { return dtype == DType::f64 ? 0x1p-53 : 0x1p-24; }

struct TwinCase {
    std::int64_t rows, channels;
    DType dtype = DType::f32;
    DType weight = DType::f32;  ///< f64 if x is f64
    bool affine = true, residual = true, relu = true;
    double mean = 0.5, deviation = 2;
};

std::vector<TwinCase> cases() {
    std::vector<TwinCase> result;
    for (const DType dtype : floating) {
        const DType weight = compute_type(dtype);
        for (const auto& [rows, channels] : std::vector<std::pair<int, int>>{
                 {1, 1}, {2, 3}, {5, 8}, {33, 16}, {100, 64}, {700, 5}, {2100, 7}, {40, 130}}) {
            result.push_back({rows, channels, dtype, weight});
            result.push_back({rows, channels, dtype, weight, rows % 2 == 0, false, rows % 3 == 0});
        }
        result.push_back({130, 32, dtype, weight, false, true, false});
        if (dtype == DType::f16 || dtype == DType::bf16)
            result.push_back({64, 24, dtype, dtype, true, false, false});
    }
    return result;
}

/// The operands of one case, on the host and on the device.
struct Operands {
    explicit Operands(const TwinCase& c)
        : shape{c.rows, c.channels, 1e-5, 0.1},
          n(c.rows * c.channels),
          x(random_buffer(c.dtype, n, 1, c.mean, c.deviation)),
          residual(random_buffer(c.dtype, n, 2)),
          weight(random_buffer(c.weight, c.channels, 3, 1, 0.3)),
          bias(random_buffer(c.weight, c.channels, 4)),
          running_mean(random_buffer(c.weight, c.channels, 5)),
          running_var(random_buffer(c.weight, c.channels, 6, 3, 0.1)),
          device_x(x),
          device_residual(residual),
          device_weight(weight),
          device_bias(bias),
          device_running_mean(running_mean),
          device_running_var(running_var) {}
    BatchNormShape shape;
    std::int64_t n;
    Buffer x, residual, weight, bias, running_mean, running_var;
    DeviceBuffer device_x, device_residual, device_weight, device_bias, device_running_mean,
        device_running_var;
};

ConstArray given(bool there, ConstArray array) { return there ? array : ConstArray(no_array); }

/// Exact statistics of one channel.
struct Exact {
    Exact(const Buffer& x, const BatchNormShape& shape, std::int64_t c) {
        for (std::int64_t r = 0; r < shape.rows; ++r) mean += x.get(r * shape.channels + c);
        mean /= static_cast<double>(shape.rows);
        for (std::int64_t r = 0; r < shape.rows; ++r) {
            const double d = x.get(r * shape.channels + c) - mean;
            squares += d * d;
            spread = std::max(spread, std::fabs(d));
        }
        variance = squares / static_cast<double>(shape.rows);
    }
    double mean = 0, squares = 0, spread = 0, variance = 0;
};

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

void expect_gradients(const TwinCase& c, bool training) {
    SCOPED_TRACE(::testing::Message() << c.rows << " x " << c.channels << " dtype "
                                      << static_cast<int>(c.dtype) << " training " << training);
    Operands o(c);
    const DType wide = compute_type(c.dtype);
    const double unit = half_unit_of(c.dtype);
    Buffer mean(wide, c.channels), invstd(wide, c.channels);
    for (std::int64_t k = 0; k < c.channels; ++k) {
        const Exact e(o.x, o.shape, k);
        mean.set(k, e.mean);
        invstd.set(k, 1 / std::sqrt(e.variance + 0.1));
    }
    const Buffer dy = random_buffer(c.dtype, o.n, 8), y = random_buffer(c.dtype, o.n, 9);
    const DeviceBuffer device_dy(dy), device_y(y), device_mean(mean), device_invstd(invstd);
    const DeviceBuffer dx(c.dtype, o.n), dresidual(c.dtype, o.n), dweight(c.weight, c.channels),
        dbias(c.weight, c.channels);
    const auto out = [](bool there, const DeviceBuffer& b) { return there ? b.array() : no_array; };
    cuda::batch_norm_backward(dx, out(c.residual, dresidual), out(c.affine, dweight),
                              out(c.affine, dbias), nullptr, device_dy, no_array, o.device_x,
                              given(c.relu, device_y), given(c.affine, o.device_weight), no_array,
                              device_mean, device_invstd, c.relu, training, o.shape, {});
    const Buffer got = dx.host(), got_residual = dresidual.host(), got_weight = dweight.host(),
                 got_bias = dbias.host();
    const auto rows = static_cast<double>(c.rows);
    for (std::int64_t k = 0; k < c.channels; ++k) {
        const auto g_at = [&](std::int64_t i) { return c.relu && y.get(i) <= 0 ? 0 : dy.get(i); };
        const auto xhat_at = [&](std::int64_t i) {
            return (o.x.get(i) - mean.get(k)) * invstd.get(k);
        };
        double sum_g = 0, sum_gx = 0, size_g = 0, size_gx = 0;
        for (std::int64_t r = 0; r < c.rows; ++r) {
            const std::int64_t i = r * c.channels + k;
            sum_g += g_at(i);
            size_g += std::fabs(g_at(i));
            sum_gx += g_at(i) * xhat_at(i);
            size_gx += std::fabs(g_at(i) * xhat_at(i));
        }
        const double slack_g = (rows + 4) * unit * size_g, slack_gx = (rows + 8) * unit * size_gx;
        if (c.affine) {
            ASSERT_TRUE(near(got_bias.get(k), sum_g, c.weight, slack_g));
            ASSERT_TRUE(near(got_weight.get(k), sum_gx, c.weight, slack_gx));
        }
        const double scale = (c.affine ? o.weight.get(k) : 1) * invstd.get(k);
        for (std::int64_t r = 0; r < c.rows; ++r) {
            const std::int64_t i = r * c.channels + k;
            const double g = g_at(i), xhat = xhat_at(i);
            if (c.residual) {
                ASSERT_EQ(got_residual.get(i), g);
            }
            const double bias_part = training ? sum_g / rows : 0;
            const double weight_part = training ? xhat * sum_gx / rows : 0;
            const double size = std::fabs(g) + std::fabs(bias_part) + std::fabs(weight_part);
            const double sums = training ? (slack_g + std::fabs(xhat) * slack_gx) / rows : 0;
            ASSERT_TRUE(near(got.get(i), scale * (g - bias_part - weight_part), c.dtype,
                             std::fabs(scale) * (sums + 8 * unit * size)))
                << i;
        }
    }
}

TEST(CudaBatchNorm, FollowsTheGradientsFormula) {
    HALFTONE_NEEDS_CUDA();
    for (const TwinCase& c : cases())
        for (const bool training : {true, false}) expect_gradients(c, training);
}

float abs_max_of_both(const Buffer& dy, const Buffer& dx, float start) {
    cpu::abs_max(&start, dy, {});
    cpu::abs_max(&start, dx, {});
    return start;
}

/// backward(dy, dx, start, shape) gives what the backward pass takes along, from `start` on: what
/// AbsMax finds.
template <typename Backward>
void expect_magnitudes(const Backward& backward) {
    for (const std::int64_t channels : {3, 8, 64})
        for (const float start : {0.0f, 1e4f})
            for (const float bad : {0.0f, infinity, nan}) {
                const std::int64_t rows = 300, n = rows * channels;
                Buffer dy = random_buffer(DType::f16, n, 8);
                if (bad != 0) dy.set(n - 1, static_cast<double>(bad));
                Buffer dx(DType::f16, n);
                const float found = backward(dy, dx, start, BatchNormShape{rows, channels});
                const float expected = abs_max_of_both(dy, dx, start);
                EXPECT_EQ(std::isnan(found), std::isnan(expected));
                if (!std::isnan(expected)) {
                    EXPECT_EQ(found, expected) << channels;
                }
            }
}

TEST(BatchNormBackward, TakesTheMagnitudesOfF16GradientsAlong) {
    expect_magnitudes([](const Buffer& dy, Buffer& dx, float start, const BatchNormShape& shape) {
        Case t(DType::f16, shape.rows, shape.channels);
        t.forward(true, true);
        Buffer dweight(t.wide, shape.channels), dbias(t.wide, shape.channels);
        cpu::batch_norm_backward(dx, no_array, dweight, dbias, &start, dy, no_array, t.x, t.y,
                                 t.weight, no_array, t.mean, t.invstd, true, true, t.shape, {});
        return start;
    });
}

TEST(CudaBatchNorm, TakesTheMagnitudesOfF16GradientsAlong) {
    HALFTONE_NEEDS_CUDA();
    for (const bool training : {false, true})
        expect_magnitudes(
            [training](const Buffer& dy, Buffer& dx, float start, const BatchNormShape& shape) {
                Case t(DType::f16, shape.rows, shape.channels);
                t.forward(true, true);
                const DeviceBuffer to(DType::f16, dx.size()), from(dy), x(t.x), y(t.y);
                const DeviceBuffer weight(t.weight), mean(t.mean), invstd(t.invstd);
                const DeviceValue<float> largest(start);
                cuda::batch_norm_backward(to, no_array, no_array, no_array, largest.get(), from,
                                          no_array, x, y, weight, no_array, mean, invstd, true,
                                          training, t.shape, {});
                dx = to.host();
                return largest.host();
            });
}

/// What a backward pass writes, as bytes.
struct Gradients {
    std::vector<unsigned char> dx, dresidual, dweight, dbias;
    bool operator==(const Gradients&) const = default;
};

/// How a backward pass is asked for the gradients of one case.
struct Asked {
    bool relu = true, with_residual = true, training = true, recompute = false;
};

Gradients gradients_on_cpu(Case& t, const Buffer& dy, ConstArray addend, const Asked& how,
                           float* largest = nullptr) {
    Buffer dx(dy.dtype(), dy.size()), dresidual(dy.dtype(), dy.size());
    Buffer dweight(t.wide, t.shape.channels), dbias(t.wide, t.shape.channels);
    cpu::batch_norm_backward(dx, how.with_residual ? dresidual.array() : no_array, dweight, dbias,
                             largest, dy, addend, t.x, t.y, t.weight, given(how.recompute, t.bias),
                             t.mean, t.invstd, how.relu, how.training, t.shape, {});
    return {dx.bytes(), dresidual.bytes(), dweight.bytes(), dbias.bytes()};
}

/// Fixed statistics have fixed weights here, so that nobody asks for the sums.
Gradients gradients_on_device(Case& t, const Buffer& dy, const Buffer* addend, const Asked& how,
                              float* largest = nullptr) {
    const DeviceBuffer dx(Buffer(dy.dtype(), dy.size())), dresidual(Buffer(dy.dtype(), dy.size()));
    const DeviceBuffer dweight(t.wide, t.shape.channels), dbias(t.wide, t.shape.channels);
    const DeviceBuffer from(dy), more(addend ? *addend : dy), x(t.x), y(t.y);
    const DeviceBuffer weight(t.weight), bias(t.bias), mean(t.mean), invstd(t.invstd);
    const DeviceValue<float> most(largest ? *largest : 0);
    cuda::batch_norm_backward(
        dx, how.with_residual ? dresidual.array() : no_array,
        how.training ? dweight.array() : no_array, how.training ? dbias.array() : no_array,
        largest ? most.get() : nullptr, from, given(addend != nullptr, more), x, y, weight,
        given(how.recompute, bias), mean, invstd, how.relu, how.training, t.shape, {});
    if (largest) *largest = most.host();
    return {dx.host().bytes(), dresidual.host().bytes(), dweight.host().bytes(),
            dbias.host().bytes()};
}

/// Gradients of which some round when they are added, and some overflow f16.
std::pair<Buffer, Buffer> two_gradients(DType dtype, std::int64_t n) {
    Buffer first = random_buffer(dtype, n, 8, 0, 1000), second = random_buffer(dtype, n, 9);
    first.set(1, 60000);
    second.set(1, 60000);
    return {first, second};
}

Buffer sum_of(const Buffer& a, const Buffer& b) {
    Buffer sum(a.dtype(), a.size());
    cpu::binary(sum, a, b, BinaryOp::add, {});
    return sum;
}

/// f(case, asked) for types, shapes with and without packs, and what a caller may ask for.
template <typename F>
void for_each_asked(const F& f) {
    for (const DType dtype : floating)
        for (const std::int64_t channels : {3, 16, 40})
            for (const bool relu : {true, false})
                for (const bool with_residual : {true, false})
                    for (const bool training : {true, false}) {
                        SCOPED_TRACE(::testing::Message()
                                     << "dtype " << static_cast<int>(dtype) << " channels "
                                     << channels << " relu " << relu << " residual "
                                     << with_residual << " training " << training);
                        Case t(dtype, 300, channels);
                        t.forward(with_residual, relu);
                        f(t, Asked{relu, with_residual, training});
                    }
}

TEST(BatchNormBackward, AddsASecondGradientAsAnAdditionBeforeItWould) {
    for_each_asked([](Case& t, const Asked& how) {
        const auto [first, second] = two_gradients(t.x.dtype(), t.x.size());
        EXPECT_EQ(gradients_on_cpu(t, first, second, how),
                  gradients_on_cpu(t, sum_of(first, second), no_array, how));
    });
}

TEST(CudaBatchNorm, AddsASecondGradientAsAnAdditionBeforeItWould) {
    HALFTONE_NEEDS_CUDA();
    for_each_asked([](Case& t, const Asked& how) {
        const auto [first, second] = two_gradients(t.x.dtype(), t.x.size());
        const Buffer sum = sum_of(first, second);
        EXPECT_EQ(gradients_on_device(t, first, &second, how),
                  gradients_on_device(t, sum, nullptr, how));
    });
}

/// run(case, first, second, asked, largest) is a backward pass. The largest sum lies where y is 0:
/// it does not pass, and counts all the same.
template <typename Run>
void expect_magnitudes_of_sum(const Run& run) {
    for (const bool with_residual : {false, true}) {
        Case t(DType::f16, 300, 16);
        t.forward(with_residual, true);
        std::int64_t closed = 0;
        while (t.y.get(closed) > 0) ++closed;
        for (const double large : {2e4, 6e4}) {
            Buffer first = random_buffer(DType::f16, t.x.size(), 8);
            Buffer second = random_buffer(DType::f16, t.x.size(), 9);
            first.set(closed, large);
            second.set(closed, large);
            float found = 0;
            run(t, first, second, Asked{.with_residual = with_residual}, &found);
            EXPECT_EQ(found, large == 2e4 ? 4e4f : infinity) << with_residual;
        }
    }
}

TEST(BatchNormBackward, TakesTheMagnitudesOfASumAlong) {
    expect_magnitudes_of_sum(
        [](Case& t, const Buffer& first, const Buffer& second, const Asked& how, float* largest) {
            gradients_on_cpu(t, first, second, how, largest);
        });
}

TEST(CudaBatchNorm, TakesTheMagnitudesOfASumAlong) {
    HALFTONE_NEEDS_CUDA();
    expect_magnitudes_of_sum(
        [](Case& t, const Buffer& first, const Buffer& second, const Asked& how, float* largest) {
            gradients_on_device(t, first, &second, how, largest);
        });
}

TEST(CudaBatchNorm, RecomputesTheMaskThatTheForwardPassRoundedTo) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const std::int64_t channels : {3, 16})
            for (const bool with_residual : {false, true}) {
                Case t(dtype, 300, channels);
                // Results so small that they are 0 in f16: the gradient does not pass there.
                for (std::int64_t c = 0; c < channels; c += 2) {
                    t.weight.set(c, 1e-8);
                    t.bias.set(c, 1e-9);
                }
                t.x.set(4, std::nan(""));
                const DeviceBuffer x(t.x), y(dtype, t.x.size()), mean(t.wide, channels),
                    invstd(t.wide, channels), weight(t.weight), bias(t.bias);
                cuda::batch_norm_forward_train(y, mean, invstd, no_array, no_array, x, weight, bias,
                                               no_array, true, t.shape, {});
                t.y = y.host();
                t.mean = mean.host();
                t.invstd = invstd.host();
                const Buffer dy = random_buffer(dtype, t.x.size(), 8);
                Asked how{.with_residual = with_residual};
                const Gradients read = gradients_on_device(t, dy, nullptr, how);
                how.recompute = true;
                EXPECT_EQ(gradients_on_device(t, dy, nullptr, how), read);
                // y is not read any more, so it may hold anything.
                t.y = Buffer(dtype, t.x.size());
                EXPECT_EQ(gradients_on_device(t, dy, nullptr, how), read);
            }
}

TEST(CudaBatchNorm, TakesMemoryAlignedForItsElementsAlone) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        const std::int64_t rows = 9, channels = 16, n = rows * channels;
        const Buffer x = random_buffer(dtype, n + 1, 1);
        const DeviceBuffer device_x(x), device_y(dtype, n + 1), mean(compute_type(dtype), channels),
            invstd(compute_type(dtype), channels), dx(dtype, n + 1);
        const auto inside = [&](const Array& a) {
            return Array{static_cast<unsigned char*>(a.data) + size_of(dtype), dtype, n};
        };
        const BatchNormShape shape{rows, channels};
        cuda::batch_norm_forward_train(inside(device_y), mean, invstd, no_array, no_array,
                                       inside(device_x), no_array, no_array, no_array, true, shape,
                                       {});
        cuda::batch_norm_backward(inside(dx), no_array, no_array, no_array, nullptr,
                                  inside(device_x), no_array, inside(device_x), inside(device_y),
                                  no_array, no_array, mean, invstd, true, true, shape, {});
        const Buffer y = device_y.host(), gradient = dx.host();
        EXPECT_TRUE(std::isnan(y.get(0)));  // the memory before the arrays is unchanged
        EXPECT_TRUE(std::isnan(gradient.get(0)));
        for (std::int64_t i = 1; i <= n; ++i) {
            ASSERT_TRUE(std::isfinite(y.get(i)));
            ASSERT_TRUE(std::isfinite(gradient.get(i)));
        }
    }
}

}  // namespace
}  // namespace kernels::test
