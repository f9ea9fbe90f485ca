#include "instruments/twin/gradient_gap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace engine {
namespace {

GradientMap gradients(const std::vector<double>& weight, const std::vector<double>& bias) {
    const auto shape = [](const std::vector<double>& values) {
        return Shape{static_cast<std::int64_t>(values.size())};
    };
    return {{"a.weight", Tensor::of(weight, shape(weight), DType::f32, Device{})},
            {"a.bias", Tensor::of(bias, shape(bias), DType::f32, Device{})}};
}

const ParameterLayer layer_a{"a", {"a.weight", "a.bias"}};

TEST(GradientGap, EqualGradientsAreNotApart) {
    const GradientMap same = gradients({1, -2, 3e-30}, {1e20});
    const GradientGap gap = gradient_gap(same, same, layer_a);
    EXPECT_EQ(gap.error, 0);
    EXPECT_EQ(gap.angle, 0);
}

TEST(GradientGap, TakesAllParametersOfTheLayerTogether) {
    const GradientGap gap = gradient_gap(gradients({3, 0}, {4}), gradients({3, 5}, {4}), layer_a);
    EXPECT_DOUBLE_EQ(gap.error, 1) << "|(0, 5, 0)| / |(3, 0, 4)|";
    EXPECT_NEAR(gap.angle, 45, 1e-6) << "cos = 25 / (5 * sqrt(50))";
}

TEST(GradientGap, TellsSmallAngles) {
    const double tilt = 1e-5;
    const GradientGap gap =
        gradient_gap(gradients({1, 0}, {0}), gradients({1, tilt}, {0}), layer_a);
    EXPECT_NEAR(gap.angle, tilt * 180 / M_PI, 1e-9) << "the cosine is 1 in double precision";
    EXPECT_NEAR(gap.error, tilt, 1e-11);
}

TEST(GradientGap, OppositeAndMissingOnes) {
    EXPECT_NEAR(gradient_gap(gradients({1, 2}, {3}), gradients({-1, -2}, {-3}), layer_a).angle, 180,
                1e-5);
    const GradientGap none = gradient_gap(gradients({1, 2}, {2}), {}, layer_a);
    EXPECT_DOUBLE_EQ(none.error, 1);
    EXPECT_EQ(none.angle, 180);
    EXPECT_EQ(gradient_gap({}, {}, layer_a).error, 0);
    EXPECT_TRUE(std::isinf(gradient_gap({}, gradients({1, 2}, {2}), layer_a).error));
}

TEST(GradientGap, IsUnknownWhereOneIsNotFinite) {
    const double inf = std::numeric_limits<double>::infinity();
    const GradientGap gap = gradient_gap(gradients({1, 2}, {3}), gradients({1, inf}, {3}), layer_a);
    EXPECT_TRUE(std::isnan(gap.error));
    EXPECT_TRUE(std::isnan(gap.angle));
}

/// The squares of the largest f32 numbers are finite in f64.
TEST(GradientGap, HoldsTheRangeOfItsValues) {
    const GradientGap gap = gradient_gap(gradients({1e38}, {0}), gradients({2e38}, {0}), layer_a);
    EXPECT_NEAR(gap.error, 1, 1e-6);
}

}  // namespace
}  // namespace engine
