#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "amp/autocast.h"
#include "engine/error.h"
#include "engine/here.h"
#include "ops/cast.h"
#include "ops/grid_sample.h"
#include "ops/pad.h"
#include "ops/pixel_shuffle.h"
#include "ops/pool.h"
#include "ops/reduce.h"
#include "ops/upsample.h"
#include "ops/view.h"

namespace engine {
namespace {

using Values = std::vector<double>;

Tensor row(const Values& values, DType dtype = DType::f32) {
    return Tensor::of(values, {1, 1, static_cast<std::int64_t>(values.size())}, dtype);
}

template <typename F>
std::string message_of(ErrorCode code, const F& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
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
    // 1 + 2^-11 + 2^-11: rounded after each addition it would stay 1.
    backward({&y, 1}, std::vector{row({1, 0x1p-11, 0x1p-11, 0, 0}, DType::f16)});
    EXPECT_EQ(x.grad().values(), (Values{1 + 0x1p-10, 0, 0}));
}

// 1.10: constant, reflection and replication pad keep a low type in a CUDA region.
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
    // 3 * 1.5 is 4 elements, 1 / 1.5 apart and not 3 / 4.
    const Tensor x = row({0, 1, 2});
    const Tensor by_factor = upsample(UpsampleMode::linear, x, {{}, {1.5}});
    EXPECT_EQ(by_factor.shape(), Shape({1, 1, 4}));
    EXPECT_NEAR(by_factor.values()[1], 0.5, 1e-6);
    const InterpolateOptions again{.mode = "linear", .recompute_scale_factor = true};
    EXPECT_NEAR(interpolate(x, {{}, {1.5}}, again).values()[1], 0.625, 1e-6);
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

// 1.9, 1.10: every upsample op is on the f32 list; mode area is not.
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

/// The places (x, y) in a 2 x 2 image of 1, 2, 3, 4.
Values read_at(const Values& places, GridMode mode, GridPadding padding, bool align = true) {
    const Tensor image = Tensor::of({1, 2, 3, 4}, {1, 1, 2, 2});
    const auto count = static_cast<std::int64_t>(places.size()) / 2;
    return grid_sample(image, Tensor::of(places, {1, 1, count, 2}), mode, padding, align).values();
}

TEST(GridSample, AsByHand) {
    using enum GridPadding;
    EXPECT_EQ(read_at({-1, -1, 1, 1, 0, 0}, GridMode::bilinear, zeros), (Values{1, 4, 2.5}));
    EXPECT_EQ(read_at({-1, -1, 0, 0}, GridMode::bilinear, zeros, false), (Values{0.25, 2.5}));
    EXPECT_EQ(read_at({3, 0, 0, -9}, GridMode::bilinear, zeros), (Values{0, 0}));
    EXPECT_EQ(read_at({3, 1, -9, -9}, GridMode::bilinear, border), (Values{4, 1}));
    // One element beyond the end mirrors to the element before it.
    EXPECT_EQ(read_at({3, 1, -3, 1}, GridMode::nearest, reflection), (Values{3, 4}));
    EXPECT_EQ(read_at({0.2, 1}, GridMode::nearest, zeros), (Values{4}));
}

TEST(GridSample, HalvesGoToTheEvenElement) {
    // Of three elements the places 0.5 and 1.5 are halves.
    const Tensor x = Tensor::of({1, 2, 3}, {1, 1, 1, 3});
    const Tensor grid = Tensor::of({-0.5, 0, 0.5, 0}, {1, 1, 2, 2});
    EXPECT_EQ(grid_sample(x, grid, GridMode::nearest, GridPadding::zeros, true).values(),
              (Values{1, 3}));
}

TEST(GridSample, ALargePlaceReadsNothing) {
    const Tensor x = Tensor::of({1, 2, 3, 4}, {1, 1, 2, 2});
    const Tensor grid = Tensor::of({1e30, 0, -1e30, 1e30}, {1, 1, 2, 2});
    EXPECT_EQ(grid_sample(x, grid, GridMode::nearest).values(), (Values{0, 0}));
}

// 1.11: an error outside, fine inside.
TEST(GridSample, A13_WithEitherSideLow) {
    const Tensor x = Tensor::of({1, 2, 3, 4}, {1, 1, 2, 2}),
                 grid = Tensor::of({0, 0}, {1, 1, 1, 2});
    const Tensor low_x = to(x, DType::f16), low_grid = to(grid, DType::f16);
    for (const auto& call : {std::pair{x, low_grid}, {low_x, grid}}) {
        const std::string text =
            message_of(ErrorCode::dtype, [&] { grid_sample(call.first, call.second); });
        EXPECT_NE(text.find("f32"), std::string::npos);
        EXPECT_NE(text.find("f16"), std::string::npos);
    }
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    EXPECT_EQ(grid_sample(x, low_grid).dtype(), DType::f32);
    EXPECT_EQ(grid_sample(low_x, grid).dtype(), DType::f32);
    EXPECT_EQ(grid_sample(low_x, low_grid).dtype(), DType::f16);
}

TEST(GridSample, RefusesWhatDoesNotFit) {
    const Tensor x = Tensor::of({1, 2, 3, 4}, {1, 1, 2, 2});
    message_of(ErrorCode::shape, [&] { grid_sample(x, Tensor::of({0, 0, 0}, {1, 1, 1, 3})); });
    message_of(ErrorCode::shape, [&] { grid_sample(x, Tensor::of({0, 0}, {1, 1, 2})); });
    const Tensor volume = reshape(x, {1, 1, 1, 2, 2}),
                 grid = Tensor::zeros({1, 1, 1, 1, 3}, DType::f32);
    message_of(ErrorCode::value, [&] { grid_sample(volume, grid, GridMode::bicubic); });
}

TEST(Sampling, TakesEmptyBatches) {
    Tensor x = Tensor::zeros({0, 4, 2, 2}, DType::f32);
    x.set_requires_grad(true);
    const TensorList results{pad(x, {1, 1}),
                             pad(x, {1, 1, 1, 0}, "reflect"),
                             upsample(UpsampleMode::linear, x, {{3, 3}, {}}),
                             grid_sample(x, Tensor::zeros({0, 1, 1, 2}, DType::f32)),
                             pixel_shuffle(x, 2),
                             channel_shuffle(x, 2)};
    for (const auto& y : results) {
        EXPECT_EQ(y.size(0), 0);
        backward({&y, 1}, std::vector{y.detach()});
    }
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
