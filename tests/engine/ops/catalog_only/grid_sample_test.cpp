#include "ops/catalog_only/grid_sample.h"

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
#include "ops/vision/pad.h"
#include "ops/vision/upsample.h"
#include "support/expectations.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using Values = std::vector<double>;

constexpr double beyond_all = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The values at the places (x, y) in a 2 x 2 image of 1, 2, 3, 4.
Values read_at(const Values& places, GridMode mode, GridPadding padding, bool align = true) {
    const Tensor image = Tensor::of({1, 2, 3, 4}, {1, 1, 2, 2});
    const auto count = static_cast<std::int64_t>(places.size()) / 2;
    return grid_sample(image, Tensor::of(places, {1, 1, count, 2}), mode, padding, align).values();
}

/// y, the image's gradient and the grid's gradient, for a row of elements read at places (x, 0)
/// with align_corners.
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
    // With three elements, the places 0.5 and 1.5 are halfway between two.
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

// As in PyTorch's CUDA kernels (safe_downgrade_to_int_range).
TEST(GridSample, APlaceThatIsNoNumberReadsNothing) {
    for (const auto mode : {GridMode::bilinear, GridMode::nearest}) {
        const TensorList read = read_row({beyond_all, 5}, {no_number, beyond_all, -beyond_all},
                                         mode, GridPadding::zeros);
        EXPECT_EQ(read[0].values(), (Values{0, 0, 0}));
        EXPECT_EQ(read[1].values(), (Values{0, 0}));
        if (mode == GridMode::bilinear) {
            EXPECT_EQ(read[2].values(), Values(6, 0));
        }
    }
    const TensorList cubic = read_row({1, 5}, {no_number}, GridMode::bicubic, GridPadding::zeros);
    expect_same(cubic[0].values(), {no_number});
    EXPECT_EQ(cubic[1].values(), (Values{0, 0}));
    expect_same(cubic[2].values(), {no_number, no_number});
}

TEST(GridSample, InsideThePaddingItReadsTheFirstElementWithoutAGradient) {
    for (const auto mode : {GridMode::bilinear, GridMode::nearest}) {
        TensorList read = read_row({beyond_all, 5}, {no_number}, mode, GridPadding::border);
        EXPECT_EQ(read[0].values(), (Values{beyond_all}));
        EXPECT_EQ(read[1].values(), (Values{0, 0}));
        if (mode == GridMode::bilinear) {
            EXPECT_EQ(read[2].values(), (Values{0, 0}));
        }
        // An infinite place is clipped to the border, but has no mirror image.
        read = read_row({3, 5}, {beyond_all, -beyond_all}, mode, GridPadding::border);
        EXPECT_EQ(read[0].values(), (Values{5, 3}));
        EXPECT_EQ(read[1].values(), (Values{1, 1}));
        read = read_row({3, 5}, {beyond_all, -beyond_all}, mode, GridPadding::reflection);
        EXPECT_EQ(read[0].values(), (Values{3, 3}));
        EXPECT_EQ(read[1].values(), (Values{0, 0}));
    }
    const TensorList cubic = read_row({1, 5}, {beyond_all}, GridMode::bicubic, GridPadding::border);
    expect_same(cubic[0].values(), {no_number});
    expect_same(cubic[1].values(), {0, no_number});
}

TEST(GridSample, InfiniteElementsCountByTheirWeights) {
    // Elements beyond the end are not read; elements inside with a weight of 0 are multiplied.
    EXPECT_EQ(read_row({1, beyond_all}, {1}, GridMode::bilinear, GridPadding::zeros)[0].values(),
              (Values{beyond_all}));
    expect_same(read_row({1, beyond_all}, {-1}, GridMode::bilinear, GridPadding::zeros)[0].values(),
                {no_number});
    // The slope of a clipped place is 0, and is multiplied too.
    const TensorList clipped =
        read_row({beyond_all, 1}, {-3}, GridMode::bilinear, GridPadding::border);
    EXPECT_EQ(clipped[0].values(), (Values{beyond_all}));
    expect_same(clipped[2].values(), {no_number, no_number});
    // At an element, the first weight of the cubic is 0 and its slope is -0.75.
    const TensorList cubic =
        read_row({0, beyond_all, 0, 0, 0}, {0}, GridMode::bicubic, GridPadding::zeros);
    expect_same(cubic[0].values(), {no_number});
    EXPECT_EQ(cubic[2].values()[0], -beyond_all);
}

// autocast.md#operations-without-an-entry (1.11): an error outside of a region, allowed inside.
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

}  // namespace
}  // namespace engine
