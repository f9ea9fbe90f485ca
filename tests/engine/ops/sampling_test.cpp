#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "amp/autocast.h"
#include "engine/error.h"
#include "engine/here.h"
#include "ops/cast.h"
#include "ops/grid_sample.h"
#include "ops/inplace.h"
#include "ops/pad.h"
#include "ops/pixel_shuffle.h"
#include "ops/pool.h"
#include "ops/reduce.h"
#include "ops/upsample.h"
#include "ops/view.h"

namespace engine {
namespace {

using Values = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void expect_same(const Values& got, const Values& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const bool same = got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]));
        EXPECT_TRUE(same) << "element " << i << " is " << got[i] << ", not " << wanted[i];
    }
}

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

TEST(Upsample, CopiesEqualSizesWhateverTheFactor) {
    const Tensor x = row({1, inf, 2, nan});
    expect_same(upsample(UpsampleMode::linear, x, {{4}, {}}).values(), x.values());
    expect_same(upsample(UpsampleMode::linear, x, {{}, {1.2}}).values(), x.values());
    const Tensor image = reshape(x, {1, 1, 2, 2});
    for (const auto mode : {UpsampleMode::linear, UpsampleMode::cubic}) {
        Tensor y = upsample(mode, image, {{}, {1, 1.4}});
        expect_same(y.values(), x.values());
        mul_(y, Tensor::scalar(0, DType::f32, default_device()));
        EXPECT_EQ(x.values()[0], 1);  // y is no view
    }
}

// PyTorch's CUDA kernels: 0 * inf is NaN along an axis whose size stays, too.
TEST(Upsample, MultipliesANeighbourOfWeightZero) {
    const Tensor x = Tensor::of({0, inf, 2}, {1, 1, 1, 3});
    // The second neighbour of the one row is that row again: its weight is 0, then 0.25.
    const Values linear{nan, nan, 2, nan, inf, 2}, smooth{nan, inf, 2, nan, inf, 2};
    expect_same(upsample(UpsampleMode::linear, x, {{2, 3}, {}}).values(), linear);
    expect_same(upsample(UpsampleMode::linear, x, {{}, {2, 1}}).values(), linear);
    expect_same(upsample(UpsampleMode::linear_aa, x, {{2, 3}, {}}).values(), smooth);
    expect_same(upsample(UpsampleMode::linear_aa, x, {{}, {2, 1}}).values(), smooth);
    expect_same(upsample(UpsampleMode::linear_aa, x, {{1, 3}, {}}).values(), {nan, inf, 2});
    expect_same(upsample(UpsampleMode::linear, row({inf, 1, 2}), {{5}, {}}, true).values(),
                {inf, inf, 1, 1.5, 2});
    // Of the cubic's four neighbours three have weight 0 at an element: they reach from one before
    // to two after it.
    const Tensor longer = Tensor::of({inf, 1, 2, 3, 4, 5}, {1, 1, 1, 6});
    expect_same(upsample(UpsampleMode::cubic, longer, {{2, 6}, {}}, true).values(),
                {nan, nan, 2, 3, 4, 5, nan, nan, 2, 3, 4, 5});
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

/// y, the image's gradient and the grid's, for a row of elements read at places (x, 0) with
/// align_corners.
TensorList read_row(const Values& elements, const Values& places, GridMode mode,
                    GridPadding padding) {
    const auto count = static_cast<std::int64_t>(places.size());
    Values grid;
    for (const double x : places) grid.insert(grid.end(), {x, 0});
    Tensor image = Tensor::of(elements, {1, 1, 1, static_cast<std::int64_t>(elements.size())}),
           at = Tensor::of(grid, {1, 1, count, 2});
    image.set_requires_grad(true);
    at.set_requires_grad(true);
    const Tensor y = grid_sample(image, at, mode, padding, true);
    backward(sum(y));
    return {y.detach(), image.grad(),
            at.grad().defined() ? at.grad() : Tensor::zeros({2}, DType::f32)};
}

// As PyTorch's CUDA kernels have it (safe_downgrade_to_int_range).
TEST(GridSample, APlaceThatIsNoNumberReadsNothing) {
    for (const auto mode : {GridMode::bilinear, GridMode::nearest}) {
        const TensorList read = read_row({inf, 5}, {nan, inf, -inf}, mode, GridPadding::zeros);
        EXPECT_EQ(read[0].values(), (Values{0, 0, 0}));
        EXPECT_EQ(read[1].values(), (Values{0, 0}));
        if (mode == GridMode::bilinear) {
            EXPECT_EQ(read[2].values(), Values(6, 0));
        }
    }
    const TensorList cubic = read_row({1, 5}, {nan}, GridMode::bicubic, GridPadding::zeros);
    expect_same(cubic[0].values(), {nan});
    EXPECT_EQ(cubic[1].values(), (Values{0, 0}));
    expect_same(cubic[2].values(), {nan, nan});
}

TEST(GridSample, InsideThePaddingItReadsTheFirstElementWithoutAGradient) {
    for (const auto mode : {GridMode::bilinear, GridMode::nearest}) {
        TensorList read = read_row({inf, 5}, {nan}, mode, GridPadding::border);
        EXPECT_EQ(read[0].values(), (Values{inf}));
        EXPECT_EQ(read[1].values(), (Values{0, 0}));
        if (mode == GridMode::bilinear) {
            EXPECT_EQ(read[2].values(), (Values{0, 0}));
        }
        // An infinite place is beyond the border, but has no mirror image.
        read = read_row({3, 5}, {inf, -inf}, mode, GridPadding::border);
        EXPECT_EQ(read[0].values(), (Values{5, 3}));
        EXPECT_EQ(read[1].values(), (Values{1, 1}));
        read = read_row({3, 5}, {inf, -inf}, mode, GridPadding::reflection);
        EXPECT_EQ(read[0].values(), (Values{3, 3}));
        EXPECT_EQ(read[1].values(), (Values{0, 0}));
    }
    const TensorList cubic = read_row({1, 5}, {inf}, GridMode::bicubic, GridPadding::border);
    expect_same(cubic[0].values(), {nan});
    expect_same(cubic[1].values(), {0, nan});
}

TEST(GridSample, InfiniteElementsCountByTheirWeights) {
    // Beyond the end there is nothing; inside, a weight of 0 is multiplied.
    EXPECT_EQ(read_row({1, inf}, {1}, GridMode::bilinear, GridPadding::zeros)[0].values(),
              (Values{inf}));
    expect_same(read_row({1, inf}, {-1}, GridMode::bilinear, GridPadding::zeros)[0].values(),
                {nan});
    // A clipped place's slope of 0 is multiplied too.
    const TensorList clipped = read_row({inf, 1}, {-3}, GridMode::bilinear, GridPadding::border);
    EXPECT_EQ(clipped[0].values(), (Values{inf}));
    expect_same(clipped[2].values(), {nan, nan});
    // At an element the cubic's first weight is 0, with the slope -0.75.
    const TensorList cubic =
        read_row({0, inf, 0, 0, 0}, {0}, GridMode::bicubic, GridPadding::zeros);
    expect_same(cubic[0].values(), {nan});
    EXPECT_EQ(cubic[2].values()[0], -inf);
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
