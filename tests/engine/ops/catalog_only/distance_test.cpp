#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/catalog_only/distance.h"
#include "ops/linalg/similarity.h"
#include "ops/shape/sum.h"
#include "support/expectations.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Values = std::vector<double>;
constexpr double endless = std::numeric_limits<double>::infinity();

TEST(Distances, ByHand) {
    const Tensor x = Tensor::of({0, 0, 3, 4}, {2, 2}, DType::f64);
    const Tensor y = Tensor::of({0, 0, 0, 1, 6, 8}, {3, 2}, DType::f64);
    EXPECT_EQ(dist(x, Tensor::zeros({2}, DType::f64)).item(), 5);
    EXPECT_EQ(cdist(x, y).values(), (Values{0, 1, 10, 5, std::sqrt(18.0), 5}));
    EXPECT_EQ(cdist(x, y, 1).values(), (Values{0, 1, 14, 7, 6, 7}));
    EXPECT_EQ(cdist(x, y, endless).values(), (Values{0, 1, 8, 4, 3, 4}));
    EXPECT_EQ(cdist(x, y, 0).values(), (Values{0, 1, 2, 2, 2, 2}));
    EXPECT_EQ(pdist(y).values(), (Values{1, 10, std::sqrt(85.0)}));
}

TEST(Distances, OfNothingAreZeroOrEmpty) {
    const Tensor none = Tensor::zeros({2, 0}, DType::f32);
    for (const double p : {0.0, 1.0, 2.0, endless})
        EXPECT_EQ(cdist(none, none, p).values(), (Values{0, 0, 0, 0}));
    EXPECT_EQ(pdist(Tensor::zeros({1, 3}, DType::f32)).numel(), 0);
}

TEST(Distances, HaveNoSlopeWhereTheyAreZero) {
    for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0, endless}) {
        Tensor x = Tensor::of({1, 2}, {1, 2}, DType::f64);
        x.set_requires_grad(true);
        backward(sum(cdist(x, x.detach(), p)));
        EXPECT_EQ(x.grad().values(), (Values{0, 0})) << p;
    }
}

TEST(Distances, AnInfiniteOneBelowPOneLeavesEqualCoordinatesAlone) {
    Tensor x = Tensor::of({0, 12, INFINITY, 12}, {2, 2}, DType::f64);
    x.set_requires_grad(true);
    backward(sum(pdist(x, 0.5)));
    EXPECT_EQ(x.grad().values()[1], 0);  // not 0 times infinity
    EXPECT_EQ(x.grad().values()[3], 0);
}

TEST(Distances, GiveEachOfEqualLargestDifferencesTheWholeSlope) {
    Tensor x = Tensor::of({1, -1}, {1, 2}, DType::f64);
    x.set_requires_grad(true);
    backward(sum(cdist(x, Tensor::zeros({1, 2}, DType::f64), endless)));
    EXPECT_EQ(x.grad().values(), (Values{1, -1}));
    // The distance of two tensors is a norm, in which equal largest elements share the gradient.
    x.set_grad({});
    backward(dist(x, Tensor::zeros({1, 2}, DType::f64), endless));
    EXPECT_EQ(x.grad().values(), (Values{0.5, -0.5}));
}

TEST(Distances, RefuseWhatTheyDoNotKnow) {
    const Tensor x = Tensor::zeros({2, 3}, DType::f32), low = to(x, DType::f16);
    const std::string mixed = message_of(ErrorCode::dtype, [&] { cdist(x, low); });
    EXPECT_NE(mixed.find("f32"), std::string::npos) << mixed;
    EXPECT_NE(mixed.find("f16"), std::string::npos) << mixed;
    message_of(ErrorCode::value, [&] { cdist(x, x, -1); });
    message_of(ErrorCode::shape, [&] { cdist(x, Tensor::zeros({2, 2}, DType::f32)); });
    message_of(ErrorCode::shape, [&] { pdist(Tensor::zeros({3}, DType::f32)); });
    message_of(ErrorCode::value, [&] { renorm(x, 0, 0, 1); });
    message_of(ErrorCode::value, [&] { renorm(x, 2, 0, -1); });
    EXPECT_NE(
        message_of(ErrorCode::shape, [&] { renorm(Tensor::zeros({3}, DType::f32), 2, 0, 1); }), "");
    EXPECT_EQ(dist(x, low).dtype(), DType::f32);
}

TEST(A12DistancesInARegion, AreF32) {
    const Tensor x = Tensor::of({1, 2, 3, 5}, {2, 2}, DType::f16);
    const Tensor wide = to(x, DType::f32);
    EXPECT_EQ(cdist(x, x).dtype(), DType::f16);
    EXPECT_EQ(normalize(x).dtype(), DType::f16);
    const AutocastRegion region(x.device().kind, true, DType::f16);
    const auto inside = region.enter();
    for (const Tensor& y : {dist(x, wide), cdist(x, wide), pdist(x), renorm(x, 2, 0, 1),
                            cosine_similarity(x, wide), normalize(x)})
        EXPECT_EQ(y.dtype(), DType::f32);
    EXPECT_EQ(normalize(to(x, DType::f64)).dtype(), DType::f64);
}

TEST(Renorm, ScalesOnlySlicesThatAreTooLong) {
    const Tensor x = Tensor::of({3, 4, 0.3, 0.4}, {2, 2}, DType::f64);
    const Values y = renorm(x, 2, 0, 1).values();
    EXPECT_NEAR(y[0], 0.6, 1e-7);
    EXPECT_NEAR(y[1], 0.8, 1e-7);
    EXPECT_EQ(y[2], 0.3);
    EXPECT_EQ(y[3], 0.4);
}

TEST(Renorm, LetsTheGradientOfASliceThatItLeavesAlonePass) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Tensor x = Tensor::of({nan, 4, 0.3, 0.4}, {2, 2}, DType::f64);
    x.set_requires_grad(true);
    backward(sum(renorm(x, 2, 0, 1)));
    EXPECT_EQ(x.grad().values(), (Values{1, 1, 1, 1}));
}

TEST(CosineSimilarity, OfAZeroVectorIsZeroAndHasASlopeThatEpsLimits) {
    Tensor x = Tensor::zeros({1, 2}, DType::f64);
    x.set_requires_grad(true);
    const Tensor y = cosine_similarity(x, Tensor::of({3, 4}, {1, 2}, DType::f64), 1, 0.5);
    EXPECT_EQ(y.item(), 0);
    backward(y);
    EXPECT_NEAR(x.grad().values()[0], 0.6 / 0.5, 1e-15);
    EXPECT_NEAR(x.grad().values()[1], 0.8 / 0.5, 1e-15);
}

TEST(Normalize, LeavesZeroVectorsAtZeroInEveryType) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
        EXPECT_EQ(normalize(Tensor::zeros({1, 3}, dtype)).values(), (Values{0, 0, 0}));
}

}  // namespace
}  // namespace engine
