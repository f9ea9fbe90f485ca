#include "ops/reduce/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/extremum.h"
#include "ops/catalog_only/moments.h"
#include "ops/reduce/order.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/expectations.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using Values = std::vector<double>;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor leaf(const Values& values, const Shape& shape, DType dtype = DType::f64) {
    Tensor x = Tensor::of(values, shape, dtype);
    x.set_requires_grad(true);
    return x;
}
/// The gradient of f's sum.
template <typename F>
Values slopes(Tensor x, const F& f) {
    backward(sum(f(x)));
    return x.grad().values();
}

TEST(Norm, OfAnyOrderByHand) {
    const Tensor x = Tensor::of({3, 0, -4}, {3}, DType::f64);
    const auto of = [&](double p) { return norm(x, {}, false, {}, p).item(); };
    EXPECT_EQ(of(0), 2);
    EXPECT_EQ(of(1), 7);
    EXPECT_EQ(of(2), 5);
    EXPECT_EQ(of(inf), 4);
    EXPECT_EQ(of(-inf), 0);
    EXPECT_EQ(of(-1), 0);
    EXPECT_NEAR(of(3), std::cbrt(91), 1e-15 * 8);
    EXPECT_NEAR(of(0.5), std::pow(std::sqrt(3) + 2, 2), 1e-14);
}

TEST(Norm, HasNoSlopeAtZeroWhateverItsOrder) {
    for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf, -inf, -1.0}) {
        Tensor x = leaf({0, 0, 0}, {3});
        const Tensor y = norm(x, {}, false, {}, p);
        backward(add(y, sum(mul(x, 0.0))));
        EXPECT_EQ(x.grad().values(), (Values{0, 0, 0})) << p;
    }
}

TEST(Norm, SharesTheSlopeAmongEqualLargestMagnitudes) {
    const auto largest = [](const Tensor& x) { return norm(x, {}, false, {}, inf); };
    EXPECT_EQ(slopes(leaf({2, -2, 1}, {3}), largest), (Values{0.5, -0.5, 0}));
}

TEST(Norm, OfLargePowersDoesNotOverflowInItsGradient) {
    // 1e20 to the fifth overflows f32; the ratio to the norm does not.
    const auto slope = slopes(leaf({1e7, 1e7}, {2}, DType::f32),
                              [](const Tensor& x) { return norm(x, {}, false, {}, 5); });
    EXPECT_NEAR(slope[0], std::pow(2.0, -0.8), 1e-6);
}

TEST(Norm, RefusesAResultTypeThatIsNarrowerAndNamesBoth) {
    const std::string text = error_text(ErrorCode::dtype, [] {
        linalg_vector_norm(Tensor::of({1}, {1}, DType::f32), 2, {}, false, DType::f16);
    });
    EXPECT_NE(text.find("f32"), std::string::npos) << text;
    EXPECT_NE(text.find("f16"), std::string::npos) << text;
}

TEST(Reductions, RefuseNothingToChooseFrom) {
    const Tensor none = Tensor::zeros({2, 0}, DType::f32);
    EXPECT_NE(error_text(ErrorCode::shape, [&] { norm(none, {1}, false, {}, inf); }), "");
    EXPECT_NE(error_text(ErrorCode::shape, [&] { norm(none, {1}, false, {}, -1); }), "");
    EXPECT_NE(error_text(ErrorCode::shape, [&] { amax(none, {1}); }), "");
    EXPECT_NE(error_text(ErrorCode::shape, [&] { max(none); }), "");
    EXPECT_NE(error_text(ErrorCode::shape, [&] { min(none, 1); }), "");
    EXPECT_NE(error_text(ErrorCode::shape, [&] { median(none, 1); }), "");
    EXPECT_EQ(amax(none, {0}).numel(), 0);
    EXPECT_EQ(prod(none, 1).values(), (Values{1, 1}));
    EXPECT_EQ(logsumexp(none, {1}).values(), (Values{-inf, -inf}));
    EXPECT_TRUE(std::isnan(median(none).item()));
}

TEST(A12ReductionsInARegion, GiveTheTypesOfTheCudaColumn) {
    const Tensor x = Tensor::of({1, 2, 3, 5}, {2, 2}, DType::f16);
    const AutocastRegion region(x.device().kind, true, DType::f16);
    const auto inside = region.enter();
    for (const Tensor& y :
         {norm(x), norm(x, {1}, true, {}, 3), linalg_vector_norm(x, inf), logsumexp(x, {1}),
          prod(x), prod(x, 0), cumsum(x, 0), cumprod(x, 1), softmin(x, 0)})
        EXPECT_EQ(y.dtype(), DType::f32);
    for (const Tensor& y :
         {amax(x), max(x), max(x, 0).values, var(x), standard_deviation(x), std_mean(x)[1],
          nansum(x), nanmean(x), sort(x).values, topk(x, 1).values, median(x)})
        EXPECT_EQ(y.dtype(), DType::f16);
    EXPECT_EQ(prod(x, {}, false, DType::f16).dtype(), DType::f16);
    EXPECT_EQ(norm(to(x, DType::f64)).dtype(), DType::f64);
}

TEST(LogSumExp, NeitherOverflowsNorLosesInfinities) {
    const Tensor x = Tensor::of({1000, 1000, -inf, -inf, inf, 1, nan, 1}, {4, 2}, DType::f32);
    const Values y = logsumexp(x, {1}).values();
    EXPECT_NEAR(y[0], 1000 + std::log(2), 1e-4);
    EXPECT_EQ(y[1], -inf);
    EXPECT_EQ(y[2], inf);
    EXPECT_TRUE(std::isnan(y[3]));
}

TEST(Products, HaveSlopesAtZeros) {
    const auto all = [](const Tensor& x) { return prod(x); };
    EXPECT_EQ(slopes(leaf({2, 0, 5}, {3}), all), (Values{0, 10, 0}));
    EXPECT_EQ(slopes(leaf({0, 3, 0}, {3}), all), (Values{0, 0, 0}));
    const auto running = [](const Tensor& x) { return cumprod(x, 0); };
    // The products are 2, 0, 0. By the second factor: 2 + 2 * 5.
    EXPECT_EQ(slopes(leaf({2, 0, 5}, {3}), running), (Values{1, 12, 0}));
}

TEST(Products, KeepAccumulatingInF32) {
    // Halfway through, the product overflows f16; at the end it does not.
    const Tensor x = Tensor::of({300, 300, 1.0 / 256, 1.0 / 256}, {4}, DType::f16);
    EXPECT_NEAR(prod(x).item(), 90000.0 / 65536, 1e-3);
    EXPECT_EQ(cumprod(x, 0).values()[1], inf);
    EXPECT_NEAR(cumprod(x, 0).values()[3], 90000.0 / 65536, 1e-3);
}

TEST(CumulativeSum, TakesIntegersAndATypeOfOnesOwn) {
    const Tensor x = Tensor::of({1, 2, 3}, {3}, DType::i64);
    EXPECT_EQ(cumsum(x, 0).dtype(), DType::i64);
    EXPECT_EQ(cumsum(x, 0).values(), (Values{1, 3, 6}));
    EXPECT_EQ(prod(x).item(), 6);
    EXPECT_EQ(cumsum(Tensor::of({1, 2}, {2}), -1, DType::bf16).dtype(), DType::bf16);
    EXPECT_EQ(cumsum(Tensor::scalar(4), 0).item(), 4);
}

/// Exact, which doubles are not.
Tensor whole(const std::vector<std::int64_t>& values) {
    const Tensor x = Tensor::empty({std::ssize(values)}, DType::i64);
    x.copy_from_host(values.data());
    return x;
}
std::vector<std::int64_t> whole_values(const Tensor& x) {
    const Tensor host = x.copy_to(Device{});
    const auto* first = host.data_as<const std::int64_t>();
    return {first, first + host.numel()};
}
using Whole = std::vector<std::int64_t>;

TEST(Integers, AreSummedAndMultipliedExactlyAndWrapAround) {
    constexpr std::int64_t two53 = std::int64_t{1} << 53;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(whole_values(sum(whole({two53, 1}))), Whole{two53 + 1});
    EXPECT_EQ(whole_values(sum(whole({two53 + 1, 0}))), Whole{two53 + 1});
    EXPECT_EQ(whole_values(sum(whole({most, 1}))), Whole{-most - 1});
    EXPECT_EQ(whole_values(cumsum(whole({two53, 1, 1}), 0)), (Whole{two53, two53 + 1, two53 + 2}));
    EXPECT_EQ(whole_values(cumsum(whole({most, most, 2}), 0)), (Whole{most, -2, 0}));
    EXPECT_EQ(whole_values(prod(whole({3486784401, 387420489}))), Whole{1350851717672992089});
    EXPECT_EQ(whole_values(prod(whole({two53, 4096}))), Whole{0});
    EXPECT_EQ(whole_values(cumprod(whole({most, 3}), 0)), (Whole{most, 9223372036854775805}));
    const Tensor rows = reshape(whole({two53, 1, 1, -5, 7, two53}), {2, 3});
    EXPECT_EQ(whole_values(sum(rows, {0})), (Whole{two53 - 5, 8, two53 + 1}));
    EXPECT_EQ(whole_values(prod(rows, 1)), (Whole{two53, -35 * two53}));
}

TEST(Integers, OfFewerBitsAndBooleansGiveSumsOf64) {
    EXPECT_EQ(sum(Tensor::of({200, 100}, {2}, DType::u8)).dtype(), DType::i64);
    EXPECT_EQ(sum(Tensor::of({200, 100}, {2}, DType::u8)).item(), 300);
    EXPECT_EQ(cumsum(Tensor::of({1, 0, 1}, {3}, DType::boolean), 0).values(), (Values{1, 1, 2}));
    EXPECT_EQ(prod(Tensor::of({65536, 65536}, {2}, DType::i32)).item(), 0x1p32);
}

TEST(Integers, AreCastToTheTypeThatIsAskedForFirst) {
    EXPECT_EQ(sum(Tensor::of({200, 100}, {2}, DType::i64), {}, false, DType::u8).item(), 44);
    EXPECT_EQ(sum(Tensor::of({2, 3}, {2}, DType::i64), {}, false, DType::boolean).item(), 1);
    EXPECT_EQ(prod(Tensor::of({65536, 65536}, {2}, DType::i64), {}, false, DType::i32).item(), 0);
    const Tensor mean_of = mean(Tensor::of({1, 2}, {2}, DType::i64), {}, false, DType::f32);
    EXPECT_EQ(mean_of.dtype(), DType::f32);
    EXPECT_EQ(mean_of.item(), 1.5);
    EXPECT_EQ(sum(Tensor::of({1, 2}, {2}, DType::i64), {}, false, DType::f16).dtype(), DType::f16);
    EXPECT_NE(error_text(ErrorCode::dtype, [&] { mean(Tensor::zeros({2}, DType::i64)); }), "");
}

TEST(Integers, HaveAnExtremumAndItsPlace) {
    constexpr std::int64_t two53 = std::int64_t{1} << 53, least = std::numeric_limits<std::int64_t>::min();
    const Tensor x = whole({two53, two53 + 1, least, two53 + 1});
    EXPECT_EQ(whole_values(max(x)), Whole{two53 + 1});
    EXPECT_EQ(whole_values(min(x)), Whole{least});
    EXPECT_EQ(whole_values(amax(x, {0})), Whole{two53 + 1});
    EXPECT_EQ(max(x, 0).indices.item(), 1);
    EXPECT_EQ(min(x, 0).indices.item(), 2);
    EXPECT_EQ(argmin(x, 0).item(), 2);
    EXPECT_EQ(amin(Tensor::of({7, 3}, {2}, DType::u8)).dtype(), DType::u8);
    EXPECT_EQ(amax(Tensor::of({0, 1}, {2}, DType::boolean)).item(), 1);
    EXPECT_EQ(median(whole({5, 1, 3, 9})).item(), 3);
    EXPECT_NE(error_text(ErrorCode::shape, [&] { max(Tensor::zeros({0}, DType::i64)); }), "");
}

TEST(Variance, OfFewerElementsThanItsCorrectionIsNaNOrInfinite) {
    const Tensor one = Tensor::of({1, 2}, {2, 1}, DType::f32);
    EXPECT_TRUE(std::isnan(var(one, {1}).values()[0]));
    EXPECT_EQ(var(Tensor::of({1, 2}, {2}), {}, 3).item(), inf);
    EXPECT_EQ(var(one, {1}, 0).values(), (Values{0, 0}));
}

TEST(Variance, IsPreciseBesideALargeMean) {
    // The difference of two sums of squares would be 0 in f32.
    const Tensor x = Tensor::of({10000, 10001, 10002}, {3}, DType::f32);
    EXPECT_EQ(var(x).item(), 1);
    EXPECT_EQ(standard_deviation(x).item(), 1);
    EXPECT_EQ(std_mean(x)[1].item(), 10001);
}

TEST(StandardDeviation, HasNoSlopeWhereItIsZero) {
    const auto deviation = [](const Tensor& x) { return standard_deviation(x); };
    EXPECT_EQ(slopes(leaf({3, 3}, {2}), deviation), (Values{0, 0}));
}

TEST(NanReductions, PassOverNaN) {
    const Tensor x = Tensor::of({1, nan, 5, nan, nan, nan}, {2, 3}, DType::f16);
    EXPECT_EQ(nansum(x, {1}).values(), (Values{6, 0}));
    EXPECT_EQ(nanmean(x, {1}).values()[0], 3);
    EXPECT_TRUE(std::isnan(nanmean(x, {1}).values()[1]));
    const auto total = [](const Tensor& t) { return nansum(t); };
    EXPECT_EQ(slopes(leaf({1, nan}, {2}), total), (Values{1, 0}));
}

TEST(Extremum, SharesItsSlopeAndFollowsNaN) {
    const auto rows = [](const Tensor& x) { return amax(x, {1}); };
    const Values slope = slopes(leaf({1, nan, 2, 3, 3, 1}, {2, 3}), rows);
    EXPECT_TRUE(std::isnan(slope[0]) && std::isnan(slope[1]) && std::isnan(slope[2]));
    EXPECT_EQ(slope[3], 0.5);
    EXPECT_EQ(slope[4], 0.5);
    // A reduction over all elements treats a NaN like any other element.
    const auto all = [](const Tensor& x) { return max(x); };
    EXPECT_EQ(slopes(leaf({1, nan, 2}, {3}), all), (Values{0, 1, 0}));
    EXPECT_EQ(slopes(leaf({2, 1, 2}, {3}), all), (Values{0.5, 0, 0.5}));
}

TEST(Extremum, AlongADimensionChoosesTheFirst) {
    const Tensor x = leaf({1, 3, 3, nan, 5, nan}, {2, 3});
    EXPECT_EQ(max(x, 1).indices.values(), (Values{1, 0}));
    EXPECT_EQ(min(x, 1).indices.values(), (Values{0, 0}));
    EXPECT_EQ(argmin(Tensor::of({2, 1, 1}, {3}), 0).item(), 1);
    const auto largest = [](const Tensor& v) { return max(v, 0).values; };
    EXPECT_EQ(slopes(leaf({3, 1, 3}, {3}), largest), (Values{1, 0, 0}));
}

TEST(Order, PutsNaNAboveEverythingAndIsStable) {
    const Tensor x = leaf({2, nan, -1, 2, inf}, {5});
    const Ordered up = sort(x), down = sort(x, 0, true);
    EXPECT_EQ(up.indices.values(), (Values{2, 0, 3, 4, 1}));
    EXPECT_EQ(down.indices.values(), (Values{1, 4, 0, 3, 2}));
    EXPECT_EQ(argsort(x).values(), up.indices.values());
    EXPECT_EQ(topk(x, 2).indices.values(), (Values{1, 4}));
    EXPECT_EQ(topk(x, 2, 0, false).values.values(), (Values{-1, 2}));
    EXPECT_EQ(topk(x, 0).values.numel(), 0);
    EXPECT_NE(error_text(ErrorCode::value, [&] { topk(x, 6); }), "");
}

TEST(Order, TakesIntegers) {
    const Tensor x = Tensor::of({3, -1, 3}, {3}, DType::i64);
    EXPECT_EQ(sort(x).values.dtype(), DType::i64);
    EXPECT_EQ(sort(x, 0, true).values.values(), (Values{3, 3, -1}));
    EXPECT_EQ(topk(x, 2).indices.values(), (Values{0, 2}));
}

TEST(Order, GivesEachElementTheSlopeOfItsPlace) {
    Tensor x = leaf({3, 1, 2}, {3});
    backward(sum(mul(sort(x).values, Tensor::of({10, 20, 30}, {3}, DType::f64))));
    EXPECT_EQ(x.grad().values(), (Values{30, 10, 20}));
}

TEST(Median, IsTheLowerOneInTheMiddleAndNaNBesideOne) {
    const Tensor x = leaf({4, 1, 3, 2, 1, nan, 0, nan}, {2, 4});
    const Ordered found = median(x, 1);
    EXPECT_EQ(found.values.values()[0], 2);
    EXPECT_TRUE(std::isnan(found.values.values()[1]));
    EXPECT_EQ(found.indices.values(), (Values{3, 1}));
    EXPECT_EQ(median(x, 1, true).values.shape(), (Shape{2, 1}));
    const auto of_all = [](const Tensor& t) { return median(t); };
    EXPECT_EQ(slopes(leaf({1, 2, 2, 5}, {4}), of_all), (Values{0, 0.5, 0.5, 0}));
}

TEST(Counts, OfEveryTypeAndOfNothing) {
    const Tensor x = Tensor::of({1, 0, nan, -2}, {2, 2}, DType::f16);
    EXPECT_EQ(all(x, {1}).values(), (Values{0, 1}));
    EXPECT_EQ(any(x, {0}, true).shape(), (Shape{1, 2}));
    EXPECT_EQ(count_nonzero(x).item(), 3);
    EXPECT_EQ(count_nonzero(Tensor::of({0, 7, 7}, {3}, DType::u8)).item(), 2);
    const Tensor none = Tensor::zeros({0}, DType::boolean);
    EXPECT_EQ(all(none).item(), 1);
    EXPECT_EQ(any(none).item(), 0);
}

TEST(Reduce, EmptyReductionsGiveTheirNeutralElement) {
    const Tensor x = Tensor::zeros({2, 0}, DType::f32);
    EXPECT_EQ(sum(x, {1}).values(), (std::vector<double>{0, 0}));
    EXPECT_TRUE(std::isnan(mean(x, {1}).values()[0]));
    EXPECT_EQ(norm(x, {1}).values(), (std::vector<double>{0, 0}));
    EXPECT_THROW(argmax(x, 1), Error);
}

TEST(Reduce, SumsOf16BitValuesAccumulateInF32) {
    // Added one by one in f16, ones no longer change a sum of 2048.
    const Tensor x = Tensor::full({5000}, 1, DType::f16);
    EXPECT_EQ(sum(x, {}, false, DType::f32).item(), 5000);
    EXPECT_EQ(mean(x).item(), 1);
    EXPECT_EQ(norm(Tensor::full({4}, 300, DType::f16)).item(), 600);
}

TEST(Reduce, TheGradientOfATinyNormDoesNotOverflow) {
    Tensor x = Tensor::of({0x1p-24, 0, 0, 0}, {2, 2}, DType::f16);
    x.set_requires_grad(true);
    const Tensor n = norm(x, {1});
    backward(sum(n));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{1, 0, 0, 0}));
}

TEST(Reduce, AGivenTypeIsWhatTheInputIsCastToFirst) {
    const Tensor x = Tensor::of({70000, -70000, 1}, {3});
    EXPECT_TRUE(std::isnan(sum(x, {}, false, DType::f16).item()));
    EXPECT_EQ(sum(x, {}, false, DType::f64).item(), 1);
    const Tensor many = Tensor::of({16777216, 1}, {2});
    EXPECT_EQ(sum(many, {}, false, DType::f64).item(), 16777217);
}

TEST(Reduce, AnyDimensionsInAnyLayoutGiveWhatARowMajorCopyGives) {
    const Tensor image = random_tensor({2, 3, 4, 5}, DType::f64, 1);
    const Tensor last = in_layout(image, Layout::channels_last);
    for (const auto& dims : std::vector<std::vector<std::int64_t>>{
             {0}, {1}, {2, 3}, {0, 2, 3}, {1, 3}, {0, 1, 2, 3}, {-1}}) {
        expect_close(sum(last, dims), sum(image, dims), 1e-13);
        EXPECT_EQ(sum(last, dims, true).rank(), 4);
    }
    EXPECT_THROW(sum(image, {0, 0}), Error);
    EXPECT_THROW(sum(image, {4}), Error);
}

TEST(Reduce, ArgmaxTakesTheFirstLargestAndANanFirst) {
    EXPECT_EQ(argmax(Tensor::of({1, 3, 3, 2}, {1, 4}), 1).values(), (std::vector<double>{1}));
    EXPECT_EQ(argmax(Tensor::of({1, NAN, 3}, {1, 3}), 1).values(), (std::vector<double>{1}));
}

}  // namespace
}  // namespace engine
