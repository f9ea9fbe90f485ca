#include "ops/pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/error.h"
#include "gradcheck.h"
#include "ops/reduce.h"

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
    // A third window would start in the padding behind the image.
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

}  // namespace
}  // namespace engine
