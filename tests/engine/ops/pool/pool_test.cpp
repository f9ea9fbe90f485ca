#include "ops/pool/pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/catalog_only/max_unpool.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

Tensor rising(std::int64_t h, std::int64_t w) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < h * w; ++i) values.push_back(static_cast<double>(i));
    return Tensor::of(values, {1, 1, h, w});
}

TEST(Pool, MaxTakesTheLargestOfEachWindowAndPaddingNeverWins) {
    EXPECT_EQ(max_pool2d(rising(4, 4), {}).values(), (std::vector<double>{5, 7, 13, 15}));
    const Tensor below = Tensor::full({1, 1, 2, 2}, -3, DType::f32);
    EXPECT_EQ(max_pool2d(below, {.kernel = {2, 2}, .padding = {1, 1}}).values(),
              (std::vector<double>{-3, -3, -3, -3}));
}

TEST(Pool, CeilModeAddsAWindowThatStartsInsideOnly) {
    EXPECT_EQ(max_pool2d(rising(5, 5), {.ceil_mode = true}).values(),
              (std::vector<double>{6, 8, 9, 16, 18, 19, 21, 23, 24}));
    EXPECT_EQ(max_pool2d(rising(5, 5), {}).shape(), (Shape{1, 1, 2, 2}));
    // A third window would start in the padding after the image.
    EXPECT_EQ(
        avg_pool2d(rising(3, 3), {.kernel = {2, 2}, .padding = {1, 1}, .ceil_mode = true}).shape(),
        (Shape{1, 1, 2, 2}));
}

TEST(Pool, TheGradientGoesToTheWinnerAndAddsWhereWindowsOverlap) {
    Tensor x = rising(3, 3);
    x.set_requires_grad(true);
    backward(sum(max_pool2d(x, {.kernel = {2, 2}, .stride = {{1, 1}}})));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{0, 0, 0, 0, 1, 1, 0, 1, 1}));
}

TEST(Pool, ANanIsLargest) {
    const Tensor x = Tensor::of({1, NAN, 3, 2}, {1, 1, 2, 2});
    EXPECT_TRUE(std::isnan(max_pool2d(x, {}).item()));
}

TEST(Pool, AverageDividesByTheWholeWindowOrByWhatIsInside) {
    const Tensor x = Tensor::full({1, 1, 2, 2}, 4, DType::f32);
    EXPECT_EQ(avg_pool2d(x, {.kernel = {2, 2}, .padding = {1, 1}}).values(),
              (std::vector<double>{1, 1, 1, 1}));
    EXPECT_EQ(
        avg_pool2d(x, {.kernel = {2, 2}, .padding = {1, 1}, .count_include_pad = false}).values(),
        (std::vector<double>{4, 4, 4, 4}));
}

TEST(Pool, AdaptiveAverageCoversTheImageWithWindowsThatMayOverlap) {
    const Tensor x = Tensor::of({1, 2, 3, 4, 5}, {1, 1, 1, 5});
    EXPECT_EQ(adaptive_avg_pool2d(x, {1, 2}).values(), (std::vector<double>{2, 4}));
    EXPECT_EQ(adaptive_avg_pool2d(x, {1, 1}).values(), (std::vector<double>{3}));
}

TEST(Pool, ResultsKeepTheTypeAndAnEmptyBatchIsEmpty) {
    for (const DType dtype : {DType::f64, DType::f16, DType::bf16}) {
        const Tensor x = Tensor::full({1, 33, 4, 4}, 2, dtype);
        EXPECT_EQ(max_pool2d(x, {}).dtype(), dtype);
        EXPECT_EQ(avg_pool2d(x, {}).values(), std::vector<double>(132, 2.0));
    }
    const Tensor none = Tensor::zeros({0, 2, 4, 4}, DType::f32);
    EXPECT_EQ(max_pool2d(none, {}).shape(), (Shape{0, 2, 2, 2}));
    EXPECT_EQ(adaptive_avg_pool2d(none, {1, 1}).shape(), (Shape{0, 2, 1, 1}));
}

TEST(Pool, RefusesWindowsThatDoNotFit) {
    EXPECT_THROW(max_pool2d(rising(2, 2), {.kernel = {3, 3}}), Error);
    EXPECT_THROW(max_pool2d(rising(4, 4), {.kernel = {2, 2}, .padding = {2, 2}}), Error);
    EXPECT_THROW(avg_pool2d(rising(4, 4), {.kernel = {0, 2}}), Error);
    EXPECT_THROW(max_pool2d(Tensor::zeros({2, 2}, DType::f32), {}), Error);
}

using Values = std::vector<double>;

Tensor rising(const Shape& shape, DType dtype = DType::f32) {
    Values values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<double>(i));
    return Tensor::of(values, shape, dtype);
}

TEST(Pooling, IndicesAreThoseOfTheFirstLargestInTheWholePlane) {
    const Tensor x = Tensor::of({1, 3, 3, 2, 0, 3, 3, 1}, {1, 2, 4});
    const WithIndices found = max_pool2d_with_indices(x, {.kernel = {2, 2}});
    EXPECT_EQ(found.values.values(), (Values{3, 3}));
    EXPECT_EQ(found.indices.values(), (Values{1, 2}));
    EXPECT_EQ(found.indices.dtype(), DType::i64);
    EXPECT_EQ(found.indices.shape(), found.values.shape());
    EXPECT_EQ(max_pool1d(x, {}, true).indices.values(), (Values{1, 2, 1, 2}));
    const Tensor volume = reshape(x, {1, 2, 2, 2});
    EXPECT_EQ(max_pool3d(volume, {}, true).indices.values(), (Values{1}));
    EXPECT_EQ(max_pool3d(volume, {.kernel = {2, 1, 2}}, true).indices.values(), (Values{1, 2}));
    EXPECT_EQ(max_pool3d(rising({1, 1, 3, 2, 2}), {.kernel = {2, 1, 1}, .stride = {1}}, true)
                  .indices.values(),
              (Values{4, 5, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(adaptive_max_pool3d(volume, {2, 1, 1}, true).indices.values(), (Values{1, 5}));
    EXPECT_FALSE(max_pool3d(volume, {}).indices.defined());
}

TEST(Pooling, OfSeveralNansTheLastIsTaken) {
    const double no = std::nan("");
    const Tensor x = Tensor::of({no, 1, no, 2}, {1, 1, 2, 2});
    EXPECT_EQ(max_pool2d_with_indices(x, {}).indices.item(), 2);
    EXPECT_EQ(adaptive_max_pool2d(x, {1, 1}).indices.item(), 2);
    const WithIndices found = max_pool3d(reshape(x, {1, 2, 1, 2}), {.kernel = {2, 1, 2}}, true);
    EXPECT_EQ(found.indices.item(), 2);
    EXPECT_TRUE(std::isnan(found.values.item()));
}

TEST(Pooling, AnAverageOverAVolumeIsRoundedOnce) {
    // The slices' means are 2048 and 2049. 2049 is not an f16 number; the overall mean rounds to
    // 2048.
    const Tensor x = Tensor::of({2048, 2048, 2048, 2050}, {1, 2, 1, 2}, DType::f16);
    EXPECT_EQ(avg_pool3d(x, {.kernel = {2, 1, 2}}).item(), 2048);
    EXPECT_EQ(avg_pool3d(x, {.kernel = {2, 1, 2}, .divisor_override = 1}).item(), 8192);
    EXPECT_EQ(avg_pool3d(x, {.kernel = {2, 1, 2}, .divisor_override = 2}).item(), 4096);
    EXPECT_EQ(adaptive_avg_pool3d(x, {1, 1, 1}).item(), 2048);
    // Overlapping windows sum their gradients in f32. A sum in f16, slice by slice, would lose the
    // ones.
    Tensor leaf = Tensor::of({0, 1, 0}, {1, 1, 3, 1, 1}, DType::f16);
    leaf.set_requires_grad(true);
    const Tensor y =
        max_pool3d(leaf, {.kernel = {3, 1, 1}, .stride = {1}, .padding = {1, 0, 0}}).values;
    const Tensor outs[] = {y}, seeds[] = {Tensor::of({2048, 1, 1}, {1, 1, 3, 1, 1}, DType::f16)};
    backward(outs, seeds);
    EXPECT_EQ(leaf.grad().values(), (Values{0, 2050, 0}));
}

TEST(Pooling, ADivisorTakesThePlaceOfTheCount) {
    const Tensor x = Tensor::full({1, 1, 2, 2}, 6, DType::f32);
    EXPECT_EQ(avg_pool2d(x, {.padding = {1, 1}, .divisor_override = 3}).values(),
              (Values{2, 2, 2, 2}));
    EXPECT_EQ(avg_pool2d(x, {.divisor_override = -4}).values(), (Values{-6}));
    EXPECT_THROW(avg_pool2d(x, {.divisor_override = 0}), Error);
    EXPECT_THROW(avg_pool3d(rising({1, 1, 2, 2, 2}), {.divisor_override = 0}), Error);
}

TEST(Pooling, AWindowLargerThanTheImageFitsInCeilModeOnly) {
    const Tensor x = rising({1, 1, 2, 2});
    EXPECT_EQ(max_pool2d(x, {.kernel = {3, 3}, .stride = {{2, 2}}, .ceil_mode = true}).values(),
              (Values{3}));
    EXPECT_EQ(avg_pool2d(x, {.kernel = {3, 3}, .stride = {{2, 2}}, .ceil_mode = true}).values(),
              (Values{1.5}));
    EXPECT_THROW(max_pool2d(x, {.kernel = {3, 3}, .stride = {{2, 2}}}), Error);
    EXPECT_THROW(max_pool3d(rising({1, 2, 2, 2}), {.kernel = {3}}), Error);
}

TEST(Pooling, M9PoolsKeepTheTypeInARegion) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
        const Tensor x = rising({1, 2, 2, 4, 4}, dtype), row = rising({2, 3, 6}, dtype);
        EXPECT_EQ(max_pool3d(x, {}).values.dtype(), dtype);
        EXPECT_EQ(avg_pool3d(x, {}).dtype(), dtype);
        EXPECT_EQ(adaptive_avg_pool3d(x, {1, 1, 1}).dtype(), dtype);
        EXPECT_EQ(adaptive_max_pool3d(x, {1, 1, 1}).values.dtype(), dtype);
        EXPECT_EQ(max_pool1d(row, {}).values.dtype(), dtype);
        EXPECT_EQ(avg_pool1d(row, {}).dtype(), dtype);
    }
}

TEST(Pooling, AnLpPoolIsMadeOfPowersSoItIsF32InARegion) {
    const Tensor x = Tensor::of({3, 4, 0, 0}, {1, 4}, DType::f16);
    EXPECT_EQ(lp_pool1d(x, 2, {}).values(), (Values{5, 0}));
    EXPECT_EQ(lp_pool1d(x, 2, {}).dtype(), DType::f16);
    // 300^2 overflows f16; the pool computes powers in f32.
    EXPECT_EQ(lp_pool2d(Tensor::full({1, 2, 2}, 300, DType::f16), 2, {}).item(), 600);
    const AutocastRegion region(here, true, DType::f16);
    const auto entered = region.enter();
    EXPECT_EQ(lp_pool1d(x, 2, {}).dtype(), DType::f32);
    EXPECT_EQ(lp_pool3d(to(rising({1, 2, 2, 2}), DType::f64), 3, {}).dtype(), DType::f64);
    EXPECT_THROW(lp_pool1d(x, 0, {}), Error);
}

TEST(Pooling, TheGradientOfAnLpPoolOfZerosIsZero) {
    Tensor x = Tensor::zeros({1, 1, 2, 2}, DType::f32);
    x.set_requires_grad(true);
    backward(sum(lp_pool2d(x, 2, {})));
    EXPECT_EQ(x.grad().values(), (Values{0, 0, 0, 0}));
}

TEST(Pooling, FractionalWindowsStartWhereTheSamplesPutThem) {
    // The second sample gives the rows: floor((i + 0.5) 1.5) - floor(0.75) = 0, 2, then 5 - 2 = 3.
    // The first gives the columns: 0, 1, then 3.
    const Tensor x = rising({1, 1, 5, 5}), samples = Tensor::of({0, 0.5}, {1, 1, 2});
    const WithIndices found = fractional_max_pool2d(x, samples, {2, 2}, {3, 3}, true);
    EXPECT_EQ(found.indices.values(), (Values{6, 7, 9, 16, 17, 19, 21, 22, 24}));
    EXPECT_EQ(found.values.values(), found.indices.values());
    EXPECT_EQ(fractional_max_pool2d(reshape(x, {1, 5, 5}), reshape(samples, {1, 2}), {5, 5}, {1, 1})
                  .values.values(),
              (Values{24}));
    EXPECT_THROW(fractional_max_pool2d(x, samples, {4, 4}, {3, 3}), Error);
    EXPECT_THROW(fractional_max_pool2d(x, to(samples, DType::f16), {2, 2}, {3, 3}), Error);
    EXPECT_THROW(fractional_max_pool2d(x, Tensor::zeros({2, 1, 2}, DType::f32), {2, 2}, {3, 3}),
                 Error);
}

TEST(Pooling, UnpoolingPutsTheLargestBackWhereTheyWere) {
    const Tensor x = Tensor::of({1, 5, 2, 0, 3, 4, 9, 8}, {1, 1, 2, 4}, DType::f16);
    const WithIndices found = max_pool2d_with_indices(x, {});
    EXPECT_EQ(max_unpool2d(found.values, found.indices, {2, 4}).values(),
              (Values{0, 5, 0, 0, 0, 0, 9, 0}));
    OpArguments args;
    args.tensors = {{0, found.values}, {1, found.indices}};
    EXPECT_EQ(max_unpool2d_op.call_by_name(args)[0].shape(), (Shape{1, 1, 2, 4}));
    // Two elements go to one place: the last one stays, and both get its gradient.
    Tensor leaf = Tensor::of({1, 2}, {1, 1, 1, 2});
    leaf.set_requires_grad(true);
    const Tensor y = max_unpool2d(leaf, Tensor::of({3, 3}, {1, 1, 1, 2}, DType::i64), {2, 2});
    EXPECT_EQ(y.values(), (Values{0, 0, 0, 2}));
    backward(sum(y));
    EXPECT_EQ(leaf.grad().values(), (Values{1, 1}));
    EXPECT_THROW(max_unpool2d(leaf, Tensor::of({3, 3}, {1, 1, 1, 2}), {2, 2}), Error);
    EXPECT_THROW(max_unpool2d(leaf, Tensor::of({3}, {1, 1, 1, 1}, DType::i64), {2, 2}), Error);
    EXPECT_THROW(max_unpool2d(leaf, Tensor::of({3, 3}, {1, 1, 1, 2}, DType::i64), {0, 2}), Error);
}

TEST(Pooling, RefusesWhatDoesNotFit) {
    const Tensor row = rising({1, 2, 4});
    EXPECT_THROW(max_pool1d(rising({4}), {}), Error);
    EXPECT_THROW(max_pool1d(row, {.padding = {2}}), Error);
    EXPECT_THROW(avg_pool1d(row, {.kernel = {2, 2}}), Error);
    EXPECT_THROW(adaptive_avg_pool1d(row, {0}), Error);
    EXPECT_THROW(adaptive_max_pool2d(Tensor::zeros({1, 2, 0, 3}, DType::f32), {1, 1}), Error);
    EXPECT_THROW(max_pool3d(to(rising({1, 2, 2, 2}), DType::i64), {}), Error);
    const Tensor none = Tensor::zeros({0, 2, 4, 4, 4}, DType::f32);
    EXPECT_EQ(max_pool3d(none, {}, true).indices.shape(), (Shape{0, 2, 2, 2, 2}));
    EXPECT_EQ(avg_pool3d(none, {}).shape(), (Shape{0, 2, 2, 2, 2}));
}

}  // namespace
}  // namespace engine
