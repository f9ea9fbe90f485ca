#include "ops/pointwise/binary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/trigonometric.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

TEST(Elementwise, MatchesTheMathLibraryAtEdgeSizes) {
    using Pair = std::pair<Tensor (*)(const Tensor&), double (*)(double)>;
    const Pair pairs[] = {{exp, std::exp},   {log, std::log},     {sqrt, std::sqrt},
                          {tanh, std::tanh}, {sin, std::sin},     {cos, std::cos},
                          {erf, std::erf},   {log1p, std::log1p}, {expm1, std::expm1},
                          {log2, std::log2}, {log10, std::log10}};
    for (const std::int64_t n : {0, 1, 31, 32, 33}) {
        const Tensor x = random_tensor({n}, DType::f32, 1, 0.1, 3);
        for (const auto& [op, reference] : pairs) {
            const auto got = op(x).values(), at = x.values();
            ASSERT_EQ(got.size(), static_cast<std::size_t>(n));
            for (std::size_t i = 0; i < got.size(); ++i) {
                // 2 units in the last place of f32 for values of order 1.
                EXPECT_NEAR(got[i], reference(at[i]), 0x1p-21 * (1 + std::abs(reference(at[i]))));
            }
        }
    }
}

TEST(Elementwise, NanAndInfinityFollowIeee) {
    const Tensor x = Tensor::of({NAN, INFINITY, -INFINITY, 0}, {4});
    EXPECT_TRUE(std::isnan(exp(x).values()[0]));
    EXPECT_EQ(exp(x).values()[1], INFINITY);
    EXPECT_EQ(exp(x).values()[2], 0);
    EXPECT_EQ(log(x).values()[3], -INFINITY);
    EXPECT_TRUE(std::isnan(relu(x).values()[0]));
    EXPECT_TRUE(std::isnan(maximum(x, Tensor::zeros({4}, DType::f32)).values()[0]));
    EXPECT_TRUE(std::isnan(sub(x, x).values()[1]));
}

TEST(Elementwise, AWideScalarKeepsItsBitsBesideA16BitTensor) {
    // 65536 is not an f16 number; 65536 * 0.5 is.
    const Tensor x = Tensor::full({2}, 0.5, DType::f16),
                 scale = Tensor::full({}, 65536, DType::f32);
    EXPECT_EQ(mul(x, scale).values(), (std::vector<double>{32768, 32768}));
    EXPECT_EQ(mul(scale, x).values(), (std::vector<double>{32768, 32768}));
}

TEST(Elementwise, ABroadcastOfChannelsKeepsTheImageLayout) {
    const Tensor image =
        in_layout(random_tensor({2, 3, 4, 5}, DType::f32, 1), Layout::channels_last);
    const Tensor y = mul(image, random_tensor({1, 3, 1, 1}, DType::f32, 2));
    EXPECT_TRUE(y.is_channels_last());
}

TEST(Elementwise, TheGradientOfACastIsCastBack) {
    Tensor x = Tensor::of({1, 2}, {2});
    x.set_requires_grad(true);
    const Tensor y = to(x, DType::f16);
    const Tensor dy = Tensor::of({0.1, 0.2}, {2}, DType::f16);
    backward({&y, 1}, {&dy, 1});
    EXPECT_EQ(x.grad().dtype(), DType::f32);
    EXPECT_EQ(x.grad().values(), dy.values());
}

TEST(Elementwise, MaximumSharesTheGradientWhereBothAreEqual) {
    Tensor a = Tensor::of({1, 2}, {2}), b = Tensor::of({1, 1}, {2});
    a.set_requires_grad(true);
    b.set_requires_grad(true);
    backward(sum(maximum(a, b)));
    EXPECT_EQ(a.grad().values(), (std::vector<double>{0.5, 1}));
    EXPECT_EQ(b.grad().values(), (std::vector<double>{0.5, 0}));
}

TEST(Elementwise, PowHasNoSlopeInItsExponentAtZeroToTheZeroAndNoneOfItsBaseToTheZero) {
    Tensor a = Tensor::of({0, 2}, {2}), b = Tensor::of({2, 0}, {2});
    a.set_requires_grad(true);
    b.set_requires_grad(true);
    backward(sum(pow(a, b)));
    EXPECT_EQ(a.grad().values(), (std::vector<double>{0, 0}));
    EXPECT_EQ(b.grad().values()[0], 0);
}

TEST(Elementwise, ClampLetsNoGradientThroughAtItsBounds) {
    Tensor x = Tensor::of({0, 0.5, 1, -1, 2, NAN}, {6});
    x.set_requires_grad(true);
    backward(sum(clamp(x, 0, 1)));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{0, 1, 0, 0, 0, 0}));
}

TEST(Elementwise, ASixteenBitOperandDoesNotCoarsenTheGradientOfAnF32One) {
    // 2^-9 - 1 and (1 + 2^-7)^2 have more bits than bf16 holds.
    Tensor a = Tensor::of({3}, {1}), b = Tensor::of({1.0 / 512}, {1}, DType::bf16);
    a.set_requires_grad(true);
    b.set_requires_grad(true);
    backward(sum(pow(a, b)));
    const double slope = 1.0 / 512 * std::pow(3.0, 1.0 / 512 - 1);
    EXPECT_NEAR(a.grad().item(), slope, 1e-6 * slope);

    Tensor y = Tensor::of({1.0078125}, {1}, DType::bf16), x = Tensor::of({3}, {1});
    x.set_requires_grad(true);
    backward(sum(atan2(y, x)));
    const double by_x = -1.0078125 / (9 + 1.0078125 * 1.0078125);
    EXPECT_NEAR(x.grad().item(), by_x, 1e-6 * -by_x);
}

TEST(Elementwise, BesideANanBothSidesOfMaximumKeepTheGradient) {
    for (const auto op : {maximum, minimum}) {
        Tensor a = Tensor::of({NAN, 1, 2}, {3}), b = Tensor::of({1, NAN, 2}, {3});
        a.set_requires_grad(true);
        b.set_requires_grad(true);
        backward(sum(op(a, b)));
        EXPECT_EQ(a.grad().values(), (std::vector<double>{1, 1, 0.5}));
        EXPECT_EQ(b.grad().values(), (std::vector<double>{1, 1, 0.5}));
    }
}

TEST(Elementwise, PowBelowZeroExponentsFallsFromInfinityAtZero) {
    Tensor b = Tensor::of({-1, 2}, {2});
    b.set_requires_grad(true);
    backward(sum(pow(Tensor::zeros({2}, DType::f32), b)));
    EXPECT_EQ(b.grad().values(), (std::vector<double>{-INFINITY, 0}));
}

TEST(Elementwise, Atan2HasNoSlopeAtTheOriginAndItsF16SquaresDoNotOverflow) {
    Tensor y = Tensor::zeros({2}, DType::f16), x = Tensor::of({0, 65504}, {2}, DType::f16);
    y.set_requires_grad(true);
    x.set_requires_grad(true);
    const Tensor angle = atan2(y, x), dy = Tensor::of({1, 4096}, {2}, DType::f16);
    backward({&angle, 1}, {&dy, 1});
    EXPECT_EQ(y.grad().values()[0], 0);
    EXPECT_NEAR(y.grad().values()[1], 0.0625, 1e-4);
    EXPECT_EQ(x.grad().values(), (std::vector<double>{0, 0}));
}

TEST(Elementwise, AnOverflowBeforeAnActivationStaysVisible) {
    EXPECT_TRUE(std::isnan(gelu(Tensor::of({-INFINITY}, {1})).item()));
    EXPECT_TRUE(std::signbit(tanh(Tensor::of({-0.0}, {1})).item()));
    for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
        Tensor x = Tensor::of({NAN, -1, 0, 1}, {4}, dtype);
        x.set_requires_grad(true);
        backward(sum(relu(x)));
        EXPECT_EQ(x.grad().values(), (std::vector<double>{1, 0, 0, 1}));
    }
}

TEST(Elementwise, ShapesThatDoNotBroadcastAreNamed) {
    try {
        add(Tensor::zeros({2, 3}, DType::f32), Tensor::zeros({4}, DType::f32));
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("add: shapes (2, 3) and (4)"), std::string::npos)
            << error.what();
    }
}

TEST(Elementwise, ClampNeedsABoundAndKeepsNan) {
    EXPECT_THROW(clamp(Tensor::zeros({1}, DType::f32), {}, {}), Error);
    EXPECT_TRUE(std::isnan(clamp(Tensor::of({NAN}, {1}), 0, 1).item()));
    EXPECT_EQ(clamp(Tensor::of({-5, 0.5, 5}, {3}), 0, 1).values(),
              (std::vector<double>{0, 0.5, 1}));
}

}  // namespace
}  // namespace engine
