#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/catalog/catalog.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pointwise/reflected.h"
#include "ops/pointwise/rounding.h"
#include "ops/catalog_only/ternary.h"
#include "ops/pointwise/trigonometric.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "support/peak_memory.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using V = std::vector<double>;
constexpr double inf = INFINITY;

V values_of(Tensor (*op)(const Tensor&), const V& x) {
    return op(Tensor::of(x, {static_cast<std::int64_t>(x.size())})).values();
}
V slopes_of(const Function& op, const V& values) {
    Tensor x = Tensor::of(values, {static_cast<std::int64_t>(values.size())});
    x.set_requires_grad(true);
    backward(sum(op({x})));
    return x.grad().values();
}

TEST(Trigonometric, IsNanOutsideTheDomainAndInfinitelySteepAtItsEnds) {
    for (const auto op : {acos, asin, atanh, erfinv})
        EXPECT_TRUE(std::isnan(values_of(op, {1.5})[0]));
    EXPECT_TRUE(std::isnan(values_of(acosh, {0.5})[0]));
    EXPECT_EQ(values_of(erfinv, {-1, 0, 1}), (V{-inf, 0, inf}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return asin(x[0]); }, {1, -1}), (V{inf, inf}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return acosh(x[0]); }, {1}), (V{inf}));
}

TEST(Trigonometric, SlopesNearTheEndsDoNotCancel) {
    // 1 - x is 2^-24 exactly, so the slope of asin is 1 / sqrt(2^-24 (2 - 2^-24)).
    const double x = 1 - 0x1p-24, exact = 1 / std::sqrt(0x1p-24 * (2 - 0x1p-24));
    const V slope = slopes_of([](const TensorList& in) { return asin(in[0]); }, {x});
    EXPECT_NEAR(slope[0], exact, 4 * 0x1p-24 * exact);
}

/// x's values and its gradient for dy = x.
using Leaky = Tensor (*)(const Tensor&, double);
std::pair<Tensor, Tensor> value_and_gradient(Leaky op, const V& values, DType dtype,
                                             Layout layout) {
    const Tensor x = Tensor::empty({2, 3, 2, 2}, dtype, default_device(), layout);
    copy_into(x, Tensor::of(values, {2, 3, 2, 2}, dtype, default_device()));
    Tensor leaf = x;
    leaf.set_requires_grad(true);
    const Tensor y = op(leaf, 0.2), dy = x.detach();
    backward({&y, 1}, {&dy, 1});
    return {y, leaf.grad()};
}

TEST(LeakyRelu, HasTheNumbersOfItsComposedFormAndKeepsTheLayout) {
    V values = {inf, -inf, NAN, 0.0, -0.0, 1e-7, -1e-7, 65504, -65504};
    while (values.size() < 24) values.push_back(static_cast<double>(values.size()) - 17.3);
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
        for (const Layout layout : {Layout::contiguous, Layout::channels_last}) {
            const auto one = value_and_gradient(leaky_relu, values, dtype, layout);
            const auto two = value_and_gradient(composed_leaky_relu, values, dtype, layout);
            for (const auto& [a, b] :
                 {std::pair(one.first, two.first), std::pair(one.second, two.second)}) {
                const V found = a.values(), expected = b.values();
                for (std::size_t i = 0; i < found.size(); ++i) {
                    EXPECT_EQ(std::isnan(found[i]), std::isnan(expected[i]));
                    if (std::isnan(found[i])) continue;
                    EXPECT_EQ(found[i], expected[i]) << name(dtype) << " " << values[i];
                    EXPECT_EQ(std::signbit(found[i]), std::signbit(expected[i]));
                }
            }
            if (default_device().kind == Device::Kind::cpu) {
                EXPECT_EQ(layout_of(one.first), layout);
                EXPECT_EQ(layout_of(one.second), layout);
            }
        }
}

TEST(Activation, SaturatesWithoutOverflow) {
    EXPECT_EQ(values_of(silu, {200, -200}), (V{200, values_of(silu, {-200})[0]}));
    EXPECT_EQ(values_of(mish, {200}), (V{200}));
    EXPECT_EQ(softplus(Tensor::of({1000, -1000, 25}, {3})).values(), (V{1000, 0, 25}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return softplus(x[0]); }, {1000, -1000}),
              (V{1, 0}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return elu(x[0]); }, {1000, -1000}), (V{1, 0}));
    EXPECT_EQ(values_of(selu, {0}), (V{0}));
}

// In f32, 1 + tanh(u) cancels to 0 in the tail that the sigmoid keeps.
TEST(Activation, TheTanhFormOfGeluKeepsItsTail) {
    const double x = -5, u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    const double exact = x / (1 + std::exp(-2 * u));
    EXPECT_NEAR(values_of(gelu_tanh, {x})[0], exact, 64 * 0x1p-24 * std::abs(exact));
}

TEST(Activation, TanhshrinkIsACubeNearZero) {
    EXPECT_NEAR(values_of(tanhshrink, {1e-3})[0], 1e-9 / 3, 1e-15);
}

TEST(Piecewise, CornersHaveTheSlopeOfPyTorch) {
    const auto slopes = [](Tensor (*op)(const Tensor&), const V& x) {
        return slopes_of([op](const TensorList& in) { return op(in[0]); }, x);
    };
    EXPECT_EQ(slopes(relu6, {0, 6, 3}), (V{0, 0, 1}));
    EXPECT_EQ(slopes(hardswish, {-3, 3, 0}), (V{0, 1, 0.5}));
    const V rising = slopes(hardsigmoid, {-3, 3, NAN});
    EXPECT_EQ(rising, (V{0, 0, 0}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return elu(x[0], 2); }, {0}), (V{2}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return leaky_relu(x[0], 0.25); }, {0}),
              (V{0.25}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return threshold(x[0], 0, 7); }, {0, 1}),
              (V{0, 1}));
    EXPECT_EQ(slopes_of([](const TensorList& x) { return hardtanh(x[0]); }, {-1, 1}), (V{0, 0}));
}

TEST(Piecewise, LetsNanThrough) {
    for (const auto op : {relu6, hardsigmoid, hardswish, selu, silu, mish, softsign, tanhshrink})
        EXPECT_TRUE(std::isnan(values_of(op, {NAN})[0]));
    EXPECT_TRUE(std::isnan(threshold(Tensor::of({NAN}, {1}), 0, 1).item()));
}

TEST(Piecewise, RefusesWhatHasNoMeaning) {
    const Tensor x = Tensor::zeros({2}, DType::f32);
    EXPECT_THROW(hardtanh(x, 1, -1), Error);
    EXPECT_THROW(celu(x, 0), Error);
    EXPECT_THROW(silu(Tensor::zeros({2}, DType::i64)), Error);
    EXPECT_THROW(acos(Tensor::zeros({2}, DType::i64)), Error);
}

TEST(Prelu, NeedsOneTypeOutsideARegionAndIsLowInside) {
    const Tensor x = Tensor::of({-2, 1, -4, 3}, {2, 2}, DType::f16);
    const Tensor weight = Tensor::of({0.5, 0.25}, {2});
    try {
        prelu(x, weight);
        FAIL() << "mixed types were taken";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("prelu"), std::string::npos);
        EXPECT_NE(text.find("f16"), std::string::npos);
        EXPECT_NE(text.find("f32"), std::string::npos);
        EXPECT_FALSE(error.hint().str().empty());
    }
    const auto entered = AutocastRegion(here, true, DType::f16).enter();
    const Tensor y = prelu(x, weight);
    EXPECT_EQ(y.dtype(), DType::f16);
    EXPECT_EQ(y.values(), (V{-1, 1, -2, 3}));
}

TEST(Prelu, TakesAWeightForEachChannelOrOne) {
    const Tensor x = Tensor::of({-1, -1, -1, -1}, {1, 2, 2});
    EXPECT_EQ(prelu(x, Tensor::of({2, 3}, {2})).values(), (V{-2, -2, -3, -3}));
    EXPECT_EQ(prelu(x, Tensor::of({2}, {1})).values(), (V{-2, -2, -2, -2}));
    EXPECT_EQ(prelu(Tensor::of({-1}, {}), Tensor::of({2}, {1})).item(), -2);
    EXPECT_THROW(prelu(x, Tensor::of({1, 2, 3}, {3})), Error);
    EXPECT_THROW(prelu(Tensor::of({-1, -1}, {2}), Tensor::of({1, 2}, {2})), Error);
}

TEST(Rounding, RoundsHalvesToTheEvenNumberAndHasAZeroGradient) {
    EXPECT_EQ(values_of(round, {0.5, 1.5, 2.5, -0.5, -1.5, 2.4, inf}), (V{0, 2, 2, 0, -2, 2, inf}));
    EXPECT_EQ(values_of(trunc, {1.9, -1.9}), (V{1, -1}));
    EXPECT_EQ(values_of(ceil, {1.1, -1.1}), (V{2, -1}));
    EXPECT_EQ(values_of(floor, {1.1, -1.1}), (V{1, -2}));
    EXPECT_EQ(values_of(sign, {-3, 0, 2, NAN}), (V{-1, 0, 1, 0}));
    for (const auto op : {round, trunc, ceil, floor, sign})
        EXPECT_EQ(slopes_of([op](const TensorList& x) { return op(x[0]); }, {1.5, -2}), (V{0, 0}));
}

TEST(Remainder, HasTheSignOfItsDivisorAndFmodThatOfItsDividend) {
    const Tensor a = Tensor::of({5, -5, 5, -5}, {4}), b = Tensor::of({3, 3, -3, -3}, {4});
    EXPECT_EQ(fmod(a, b).values(), (V{2, -2, 2, -2}));
    EXPECT_EQ(remainder(a, b).values(), (V{2, 1, -1, -2}));
    const V edge = fmod(Tensor::of({1, inf, 1}, {3}), Tensor::of({0, 1, inf}, {3})).values();
    EXPECT_TRUE(std::isnan(edge[0]) && std::isnan(edge[1]));
    EXPECT_EQ(edge[2], 1);
    const auto nothing_by_nothing = [] {
        return fmod(Tensor::zeros({2}, DType::i64), Tensor::zeros({2}, DType::i64));
    };
    if (here == Device::Kind::cpu) {
        EXPECT_THROW(nothing_by_nothing(), Error);
    } else {
        EXPECT_EQ(nothing_by_nothing().values(), (V{0, 0})) << "it does not wait to look";
    }
}

TEST(Remainder, LooksForADivisorOfNothingWhereItLies) {
    if (here != Device::Kind::cpu) GTEST_SKIP() << "a GPU does not look";
    constexpr std::int64_t count = std::int64_t{1} << 22;
    for (const DType type : {DType::i32, DType::i64}) {
        const Tensor a = Tensor::full({count}, 7, type), b = Tensor::full({count}, 4, type);
        const auto result = static_cast<std::int64_t>(a.bytes());
        const test::PeakMemory memory;
        if (!memory.known()) GTEST_SKIP() << "the system does not tell a process its peak";
        EXPECT_EQ(remainder(a, b).data_as<std::int32_t>()[0], 3);
        EXPECT_LT(memory.grown(), result + result / 2) << "the result alone";
    }
    // As wide as a type is, its last divisor is found, also of a view and of one for all.
    for (const DType type : {DType::u8, DType::i32, DType::i64}) {
        const Tensor a = Tensor::of({1, 2, 3, 4}, {2, 2}, type);
        EXPECT_THROW(fmod(a, Tensor::of({1, 5, 3, 0}, {2, 2}, type)), Error);
        EXPECT_THROW(remainder(a, transpose(Tensor::of({1, 5, 0, 9}, {2, 2}, type), 0, 1)), Error);
        EXPECT_THROW(fmod(a, Tensor::of({0}, {1}, type)), Error);
        EXPECT_EQ(fmod(a, Tensor::of({3}, {1}, type)).values(), (V{1, 2, 0, 1}));
    }
    const Tensor large = Tensor::of({0x1p32, 0x1p40}, {2}, DType::i64);
    EXPECT_EQ(fmod(large, large).values(), (V{0, 0})) << "half of the bits are 0";
}

// 16777215 * 3 needs more than 24 bits: a - b trunc(a / b) in f32 would be wrong.
TEST(Remainder, IsExactWhereTheQuotientIsLarge) {
    EXPECT_EQ(fmod(Tensor::of({0x1p30}, {1}), Tensor::of({3}, {1})).item(), 1);
    EXPECT_EQ(fmod(Tensor::of({1e38}, {1}), Tensor::of({7}, {1})).item(),
              std::fmod(static_cast<double>(1e38F), 7.0));
}

TEST(Lerp, IsExactAtBothEndsAndNeedsOneTypeInsideARegionToo) {
    const Tensor x = Tensor::of({1e8, 0.1}, {2}), end = Tensor::of({0.1, 1e8}, {2});
    EXPECT_EQ(lerp(x, end, 0.0).values(), x.values());
    EXPECT_EQ(lerp(x, end, 1.0).values(), end.values());
    EXPECT_EQ(lerp(x, end, Tensor::of({0, 1}, {2})).values(), (V{x.values()[0], end.values()[1]}));
    const Tensor low = Tensor::of({1, 2}, {2}, DType::f16);
    EXPECT_THROW(lerp(x, low, 0.5), Error);
    const auto entered = AutocastRegion(here, true, DType::f16).enter();
    EXPECT_THROW(lerp(x, low, 0.5), Error);
    EXPECT_THROW(lerp(x, end, low), Error);
    EXPECT_EQ(lerp(low, low, 0.5).dtype(), DType::f16);
}

TEST(Addcmul, PromotesWithoutARegionAndAZeroDimensionalOperandWidensNothing) {
    const Tensor low = Tensor::of({1, 2}, {2}, DType::f16), wide = Tensor::of({3, 4}, {2});
    EXPECT_EQ(addcmul(low, wide, low).dtype(), DType::f32);
    EXPECT_EQ(addcdiv(low, low, wide).dtype(), DType::f32);
    EXPECT_EQ(addcmul(low, Tensor::scalar(2, DType::f32), low).dtype(), DType::f16);
    EXPECT_EQ(addcmul(low, low, Tensor::zeros({2}, DType::bf16)).dtype(), DType::f32);
    const Tensor whole = Tensor::zeros({2}, DType::i64);
    EXPECT_THROW(addcmul(whole, whole, whole), Error);
    EXPECT_EQ(addcmul(low, whole, low).dtype(), DType::f16);
}

TEST(Addcmul, TheProductDoesNotOverflowBeforeTheSum) {
    const Tensor big = Tensor::of({300}, {1}, DType::f16);
    EXPECT_EQ(addcmul(Tensor::of({-60000}, {1}, DType::f16), big, big).item(), 30000);
}

TEST(Reversed, ANumberDividedByATensorIsF32InARegionAndATensorByANumberIsLow) {
    const Tensor x = Tensor::of({2, 4}, {2}, DType::f16);
    EXPECT_EQ(div(1.0, x).dtype(), DType::f16);
    const auto entered = AutocastRegion(here, true, DType::f16).enter();
    EXPECT_EQ(div(1.0, x).dtype(), DType::f32);
    EXPECT_EQ(pow(2.0, x).dtype(), DType::f32);
    EXPECT_EQ(div(x, scalar_like(x, 2)).dtype(), DType::f16);
    EXPECT_EQ(div(1.0, x).values(), (V{0.5, 0.25}));
    OpArguments call;
    call.tensors[0] = x;
    call.attrs["self"] = 1.0;
    EXPECT_EQ(find_op("div")->call_by_name(call)[0].dtype(), DType::f32);
    EXPECT_EQ(find_op("pow")->call_by_name(call)[0].dtype(), DType::f32);
    EXPECT_THROW(find_op("rdiv")->call_by_name(call), Error);
}

// M9: the rows of autocast.md#result-types (1.10) with the ops of this file.
TEST(Pointwise, M9ResultTypesInARegionAreThoseOfTheTable) {
    for (const DType low : {DType::f16, DType::bf16}) {
        const auto entered = AutocastRegion(here, true, low).enter();
        const Tensor x = Tensor::of({0.25, 0.5}, {2}, low);
        for (const auto op : {silu, mish, selu, atan, asinh, gelu_tanh, erfc, exp2, floor})
            EXPECT_EQ(op(x).dtype(), low);
        EXPECT_EQ(elu(x).dtype(), low);
        for (const auto op : {acos, asin, cosh, sinh, tan, erfinv, reciprocal, square})
            EXPECT_EQ(op(x).dtype(), DType::f32);
        EXPECT_EQ(softplus(x).dtype(), DType::f32);
        EXPECT_EQ(acos(to(x, DType::f64)).dtype(), DType::f64);
    }
}

TEST(Logical, AsksAboutInfinitiesAndNan) {
    const V x{1, inf, -inf, NAN, 0};
    EXPECT_EQ(values_of(isnan, x), (V{0, 0, 0, 1, 0}));
    EXPECT_EQ(values_of(isinf, x), (V{0, 1, 1, 0, 0}));
    EXPECT_EQ(values_of(isfinite, x), (V{1, 0, 0, 0, 1}));
    EXPECT_EQ(isfinite(Tensor::of({65504, inf}, {2}, DType::f16)).values(), (V{1, 0}));
    EXPECT_EQ(isnan(Tensor::of({1, 2}, {2}, DType::i64)).values(), (V{0, 0}));
    EXPECT_EQ(isfinite(Tensor::of({1, 0}, {2}, DType::boolean)).values(), (V{1, 1}));
}

TEST(Logical, CountsEveryNumberButZeroAsTrue) {
    const Tensor a = Tensor::of({0, 0, 2, NAN}, {4}), b = Tensor::of({0, 3, 0, 1}, {4}, DType::i64);
    EXPECT_EQ(logical_not(a).values(), (V{1, 1, 0, 0}));
    EXPECT_EQ(logical_and(a, b).values(), (V{0, 0, 0, 1}));
    EXPECT_EQ(logical_or(a, b).values(), (V{0, 1, 1, 1}));
    EXPECT_EQ(logical_xor(a, b).values(), (V{0, 1, 1, 0}));
    EXPECT_EQ(logical_and(a, Tensor::of({1}, {1})).shape(), (Shape{4}));
    EXPECT_FALSE(logical_not(Tensor::of({1}, {1})).requires_grad());
}

TEST(Pointwise, TakesEmptyTensorsAndAnyLayout) {
    EXPECT_EQ(silu(Tensor::zeros({0, 3}, DType::f16)).shape(), (Shape{0, 3}));
    EXPECT_EQ(acos(Tensor::zeros({0}, DType::f32)).numel(), 0);
    EXPECT_EQ(fmod(Tensor::zeros({0, 2}, DType::f32), Tensor::zeros({2}, DType::f32)).shape(),
              (Shape{0, 2}));
    EXPECT_EQ(addcmul(Tensor::zeros({0, 2}, DType::f32), Tensor::zeros({2}, DType::f32),
                      Tensor::zeros({1}, DType::f32))
                  .shape(),
              (Shape{0, 2}));
}

}  // namespace
}  // namespace engine
