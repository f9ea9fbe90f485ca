#include "ops/vision/upsample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/pointwise/inplace.h"
#include "ops/pool/pool.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "ops/catalog_only/grid_sample.h"
#include "ops/vision/pad.h"
#include "support/expectations.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Values = std::vector<double>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor row(const Values& values, DType dtype = DType::f32) {
    return Tensor::of(values, {1, 1, static_cast<std::int64_t>(values.size())}, dtype);
}

TEST(Pad, ReadsInsideAsItsModeSays) {
    const Tensor x = row({1, 2, 3});
    EXPECT_EQ(pad(x, {2, 2}, "reflect").values(), (Values{3, 2, 1, 2, 3, 2, 1}));
    EXPECT_EQ(pad(x, {2, 2}, "replicate").values(), (Values{1, 1, 1, 2, 3, 3, 3}));
    EXPECT_EQ(pad(x, {3, 1}, "circular").values(), (Values{1, 2, 3, 1, 2, 3, 1}));
    EXPECT_EQ(pad(x, {1, 0}, "constant", 7).values(), (Values{7, 1, 2, 3}));
    EXPECT_EQ(constant_pad(x, {-1, 1}).values(), (Values{2, 3, 0}));
    EXPECT_EQ(constant_pad(to(x, DType::i64), {1, 0}, 5).dtype(), DType::i64);
}

TEST(Pad, RefusesWhatReachesTooFar) {
    const Tensor x = row({1, 2, 3});
    message_of(ErrorCode::value, [&] { pad(x, {3, 0}, "reflect"); });
    message_of(ErrorCode::value, [&] { pad(x, {4, 0}, "circular"); });
    message_of(ErrorCode::value, [&] { pad(x, {-2, -2}); });
    message_of(ErrorCode::value, [&] { pad(x, {1, 1, 1}); });
    message_of(ErrorCode::value, [&] { pad(x, {1, 1}, "mirror"); });
}

TEST(Pad, AddsTheGradientsOfCopiesOnce) {
    Tensor x = row({1, 2, 3}, DType::f16);
    x.set_requires_grad(true);
    const Tensor y = pad(x, {2, 0}, "replicate");
    // 1 + 2^-11 + 2^-11 would stay 1 if it were rounded after each addition.
    backward({&y, 1}, std::vector{row({1, 0x1p-11, 0x1p-11, 0, 0}, DType::f16)});
    EXPECT_EQ(x.grad().values(), (Values{1 + 0x1p-10, 0, 0}));
}

// autocast.md#result-types (1.10): constant, reflection and replication padding keep a 16-bit type
// in a CUDA region.
TEST(Pad, KeepsALowTypeInARegion) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    for (const char* mode : {"constant", "reflect", "replicate", "circular"})
        EXPECT_EQ(pad(row({1, 2, 3}, DType::f16), {1, 1}, mode).dtype(), DType::f16);
}

TEST(Upsample, LinearAsByHand) {
    const Tensor x = row({0, 4});
    EXPECT_EQ(upsample(UpsampleMode::linear, x, {{4}, {}}).values(), (Values{0, 1, 3, 4}));
    EXPECT_EQ(upsample(UpsampleMode::linear, x, {{3}, {}}, true).values(), (Values{0, 2, 4}));
    EXPECT_EQ(upsample(UpsampleMode::linear, x, {{1}, {}}, true).values(), (Values{0}));
    EXPECT_EQ(upsample(UpsampleMode::nearest, row({1, 2, 3}), {{5}, {}}).values(),
              (Values{1, 1, 2, 2, 3}));
    EXPECT_EQ(upsample(UpsampleMode::nearest_exact, row({1, 2, 3, 4}), {{2}, {}}).values(),
              (Values{2, 4}));
}

TEST(Upsample, TakesTheStepsFromTheFactors) {
    // 3 * 1.5 gives 4 elements at a distance of 1 / 1.5, and not of 3 / 4.
    const Tensor x = row({0, 1, 2});
    const Tensor by_factor = upsample(UpsampleMode::linear, x, {{}, {1.5}});
    EXPECT_EQ(by_factor.shape(), Shape({1, 1, 4}));
    EXPECT_NEAR(by_factor.values()[1], 0.5, 1e-6);
    const InterpolateOptions again{.mode = "linear", .recompute_scale_factor = true};
    EXPECT_NEAR(interpolate(x, {{}, {1.5}}, again).values()[1], 0.625, 1e-6);
}

TEST(Upsample, CopiesEqualSizesWhateverTheFactor) {
    const Tensor x = row({1, infinite, 2, not_a_number});
    expect_same(upsample(UpsampleMode::linear, x, {{4}, {}}).values(), x.values());
    expect_same(upsample(UpsampleMode::linear, x, {{}, {1.2}}).values(), x.values());
    const Tensor image = reshape(x, {1, 1, 2, 2});
    for (const auto mode : {UpsampleMode::linear, UpsampleMode::cubic}) {
        Tensor y = upsample(mode, image, {{}, {1, 1.4}});
        expect_same(y.values(), x.values());
        mul_(y, Tensor::scalar(0, DType::f32, default_device()));
        EXPECT_EQ(x.values()[0], 1);  // y is not a view
    }
}

// As PyTorch's CUDA kernels: 0 * inf is NaN, also along an axis whose size does not change.
TEST(Upsample, MultipliesANeighbourOfWeightZero) {
    const Tensor x = Tensor::of({0, infinite, 2}, {1, 1, 1, 3});
    // The second neighbour of a single row is the row itself: its weight is 0, then 0.25.
    const Values linear{not_a_number, not_a_number, 2, not_a_number, infinite, 2},
        smooth{not_a_number, infinite, 2, not_a_number, infinite, 2};
    expect_same(upsample(UpsampleMode::linear, x, {{2, 3}, {}}).values(), linear);
    expect_same(upsample(UpsampleMode::linear, x, {{}, {2, 1}}).values(), linear);
    expect_same(upsample(UpsampleMode::linear_aa, x, {{2, 3}, {}}).values(), smooth);
    expect_same(upsample(UpsampleMode::linear_aa, x, {{}, {2, 1}}).values(), smooth);
    expect_same(upsample(UpsampleMode::linear_aa, x, {{1, 3}, {}}).values(),
                {not_a_number, infinite, 2});
    expect_same(upsample(UpsampleMode::linear, row({infinite, 1, 2}), {{5}, {}}, true).values(),
                {infinite, infinite, 1, 1.5, 2});
    // Three of the cubic's four neighbours, from one before to two after, have weight 0 at an
    // element.
    const Tensor longer = Tensor::of({infinite, 1, 2, 3, 4, 5}, {1, 1, 1, 6});
    expect_same(upsample(UpsampleMode::cubic, longer, {{2, 6}, {}}, true).values(),
                {not_a_number, not_a_number, 2, 3, 4, 5, not_a_number, not_a_number, 2, 3, 4, 5});
}

TEST(Upsample, TheMeanOfASmoothSmallerImage) {
    const Tensor x = Tensor::of({0, 4, 8, 12}, {1, 1, 2, 2});
    EXPECT_NEAR(upsample(UpsampleMode::linear_aa, x, {{1, 1}, {}}).values()[0], 6, 1e-5);
    EXPECT_EQ(interpolate(x, {{1}, {}}, {.mode = "area"}).values(), (Values{6}));
}

TEST(Upsample, KeepsImagesChannelsLast) {
    const Tensor x =
        Tensor::empty({1, 2, 2, 2}, DType::f32, default_device(), Layout::channels_last);
    x.copy_from_host(std::vector<float>{0, 4, 1, 5, 2, 6, 3, 7}.data());
    const Tensor y = upsample(UpsampleMode::linear, x, {{4, 3}, {}});
    EXPECT_TRUE(y.is_channels_last());
    EXPECT_EQ(y.values(), upsample(UpsampleMode::linear, contiguous(x), {{4, 3}, {}}).values());
}

// autocast.md#operation-lists (1.9), 1.10: every upsample op is on the f32 list; the area mode is
// not.
TEST(Upsample, A12_IsF32InARegion) {
    const Tensor x = Tensor::of({0, 4, 8, 12}, {1, 1, 2, 2}, DType::f16);
    EXPECT_EQ(upsample(UpsampleMode::linear, x, {{4, 4}, {}}).dtype(), DType::f16);
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    for (const auto mode :
         {UpsampleMode::nearest, UpsampleMode::nearest_exact, UpsampleMode::linear,
          UpsampleMode::cubic, UpsampleMode::linear_aa, UpsampleMode::cubic_aa})
        EXPECT_EQ(upsample(mode, x, {{4, 4}, {}}).dtype(), DType::f32);
    EXPECT_EQ(interpolate(x, {{4}, {}}).dtype(), DType::f32);
    EXPECT_EQ(interpolate(x, {{1}, {}}, {.mode = "area"}).dtype(), DType::f16);
}

TEST(Upsample, RefusesWhatItDoesNotHave) {
    const Tensor x = row({1, 2, 3});
    message_of(ErrorCode::shape, [&] { upsample(UpsampleMode::cubic, x, {{4}, {}}); });
    message_of(ErrorCode::value, [&] { upsample(UpsampleMode::linear, x, {{4, 4}, {}}); });
    message_of(ErrorCode::value, [&] { upsample(UpsampleMode::linear, x, {{0}, {}}); });
    message_of(ErrorCode::value, [&] { upsample(UpsampleMode::linear, x, {{4}, {2.0}}); });
    message_of(ErrorCode::value, [&] { upsample(UpsampleMode::linear, x, {{}, {-1.0}}); });
    message_of(ErrorCode::value, [&] { interpolate(x, {{4}, {}}, {.mode = "bilinear"}); });
    message_of(ErrorCode::shape, [&] { interpolate(x, {{4}, {}}, {.mode = "area"}); });
    message_of(ErrorCode::value, [&] { interpolate(x, {{4}, {}}, {.antialias = true}); });
    message_of(ErrorCode::dtype, [&] {
        upsample(UpsampleMode::nearest, row({1, 2}, DType::i64), {{4}, {}});
    });
}

TEST(PixelShuffle, MovesChannelsIntoTheImageAndBack) {
    const Tensor x = Tensor::of({1, 2, 3, 4}, {1, 4, 1, 1}, DType::i64);
    const Tensor y = pixel_shuffle(x, 2);
    EXPECT_EQ(y.shape(), Shape({1, 1, 2, 2}));
    EXPECT_EQ(y.values(), (Values{1, 2, 3, 4}));
    EXPECT_EQ(pixel_unshuffle(y, 2).values(), x.values());
    EXPECT_EQ(channel_shuffle(x, 2).values(), (Values{1, 3, 2, 4}));
    message_of(ErrorCode::shape, [&] { pixel_shuffle(x, 3); });
    message_of(ErrorCode::shape, [&] { pixel_unshuffle(x, 2); });
    message_of(ErrorCode::shape, [&] { channel_shuffle(x, 3); });
}

}  // namespace
}  // namespace engine
