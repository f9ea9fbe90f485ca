#include <gtest/gtest.h>

#include <cmath>

#include "kernels/batch_norm.h"
#include "kernels/batch_norm_problem.h"
#include "kernels/device_array.h"
#include "kernels/support.h"
#include "kernels/targets.h"

// Batch norm's gradients against their formula, and what holds for both passes: bits that do not
// depend on the threads, memory of any alignment.
namespace kernels::test::batch_norm {
namespace {

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
}  // namespace kernels::test::batch_norm
