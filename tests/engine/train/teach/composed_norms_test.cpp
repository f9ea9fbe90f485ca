#include "train/teach/composed_norms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "nn/layers.h"
#include "nn/transformer.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "tensor/cast.h"
#include "train/step/run_context.h"

namespace engine {
namespace {

std::unique_ptr<Norms> composed_norms(double epsilon = 0) {
    TeachConfig teach;
    teach.norm = TeachNorm::composed;
    teach.norm_epsilon = epsilon;
    return make_composed_norms(teach);
}

Tensor composed_layer_norm(const Tensor& x, const Tensor& weight = {}, double epsilon = 0) {
    return composed_norms(epsilon)->layer(x, weight, {}, 1e-5);
}

Tensor numbers(const Shape& shape, DType dtype, double step = 0.37) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
        values.push_back(std::sin(step * static_cast<double>(i)) * 2);
    return Tensor::of(values, shape, dtype);
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
    const auto x = a.values(), y = b.values();
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance) << i;
}

TEST(ComposedNorm, InF32ItIsTheNormButForRounding) {
    const Tensor x = numbers({4, 6, 3, 3}, DType::f32), weight = numbers({6}, DType::f32, 1.1),
                 bias = numbers({6}, DType::f32, 0.7);
    const auto statistics = [] {
        return std::pair{Tensor::zeros({6}, DType::f32), Tensor::full({6}, 1, DType::f32)};
    };
    const auto [mean_a, var_a] = statistics();
    const auto [mean_b, var_b] = statistics();
    // E[x^2] - E[x]^2 cancels: both are about 2, so the variance of about 2 is off by about 1e-6.
    const auto composed = composed_norms();
    expect_near(composed->batch(x, {weight, bias, mean_a, var_a}, true),
                batch_norm(x, weight, bias, mean_b, var_b, true), 1e-5);
    expect_near(mean_a, mean_b, 1e-6);
    expect_near(var_a, var_b, 1e-5);
    expect_near(composed->batch(x, {weight, bias, mean_b, var_b}, false),
                batch_norm(x, weight, bias, mean_b, var_b, false), 1e-5);
    const Tensor rows = numbers({5, 8}, DType::f32), scale = numbers({8}, DType::f32, 0.9);
    expect_near(composed_layer_norm(rows, scale), layer_norm(rows, {8}, scale), 1e-5);
}

TEST(ComposedNorm, SquaresAbove255OverflowInFp16AndNotInTheNorm) {
    const Tensor x = Tensor::of({300, -300, 100, -100}, {1, 4}, DType::f16);
    const auto whole = layer_norm(x, {4}).values();
    for (const double v : whole) EXPECT_TRUE(std::isfinite(v));
    const auto composed = composed_layer_norm(x).values();
    for (const double v : composed)
        EXPECT_EQ(v, 0) << "divided by the square root of an infinite variance";
}

TEST(ComposedNorm, AnEpsilonOf1e8Is0InFp16SoThatAConstantRowIsNaN) {
    const Tensor x = Tensor::full({1, 4}, 0.5, DType::f16);
    const auto with = [&x](double epsilon) {
        return composed_layer_norm(x, {}, epsilon).values()[0];
    };
    EXPECT_TRUE(std::isnan(with(1e-8))) << "0 / 0";
    EXPECT_EQ(with(1e-5), 0);
    const Tensor wide = Tensor::full({1, 4}, 0.5, DType::f32);
    EXPECT_EQ(composed_layer_norm(wide, {}, 1e-8).values()[0], 0) << "f32 holds 1e-8";
}

TEST(ComposedNorm, ARegionComputesItInItsLowType) {
    const Tensor x = numbers({2, 8}, DType::f32);
    const AutocastRegion region(Device::Kind::cpu, true, DType::f16);
    const auto entered = region.enter();
    EXPECT_EQ(layer_norm(x, {8}).dtype(), DType::f32);
    EXPECT_EQ(composed_layer_norm(x).dtype(), DType::f16);
}

TEST(ComposedNorm, LayersComputeItInARunThatAsksForIt) {
    TensorRegistry registry(1, Device{});
    const BatchNorm2d layer(registry, "bn", 2);
    const LayerNorm rows(registry, "ln", 4, 1e-5);
    const Tensor image = Tensor::full({2, 2, 1, 1}, 300, DType::f16);
    const Tensor line = Tensor::of({300, -300, 100, -100}, {1, 4}, DType::f16);
    const auto intact = rows(line).values();
    EXPECT_GT(std::abs(intact[0]), 1);
    {
        RunContext context(RunConfig(), Device{}, nullptr, composed_norms());
        const RunContext::Entry entered(context);
        EXPECT_EQ(rows(line).values()[0], 0);
        // The mean of 300^2 is inf, and so is the square of the mean 300: inf - inf.
        EXPECT_TRUE(std::isnan(layer(image, true).values()[0]));
        EXPECT_TRUE(std::isnan(layer.relu(image, {}, true).values()[0]));
        EXPECT_FALSE(LayerNorm::may_join_sum()) << "which is one kernel in f32";
    }
    EXPECT_TRUE(LayerNorm::may_join_sum());
    EXPECT_EQ(rows(line).values(), intact);
    EXPECT_EQ(make_composed_norms({}), nullptr);
}

TEST(ComposedNorm, HasTheGradientOfTheNorm) {
    const auto gradient = [](auto norm) {
        Tensor x = numbers({3, 8}, DType::f32);
        x.set_requires_grad(true);
        const Tensor y = norm(x);
        backward(sum(mul(y, numbers({3, 8}, DType::f32, 0.21))));
        return x.grad();
    };
    expect_near(gradient([](const Tensor& x) { return composed_layer_norm(x); }),
                gradient([](const Tensor& x) { return layer_norm(x, {8}); }), 1e-5);
}

}  // namespace
}  // namespace engine
