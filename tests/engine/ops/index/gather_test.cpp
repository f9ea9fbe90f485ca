#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/index/index_put.h"
#include "ops/index/masked.h"
#include "ops/index/scatter.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/expectations.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

Tensor gather_places(const std::vector<double>& values, const Shape& shape) {
    return Tensor::of(values, shape, DType::i64);
}
Tensor gather_places(const std::vector<double>& values) {
    return gather_places(values, {static_cast<std::int64_t>(values.size())});
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Indexing, SelectsRowsOfAnyType) {
    for (const DType dtype : {DType::i64, DType::boolean, DType::u8, DType::f16}) {
        const Tensor x = Tensor::of({1, 0, 1, 1, 0, 0}, {3, 2}, dtype);
        const Tensor y = index_select(x, 0, gather_places({2, 0}));
        EXPECT_EQ(y.dtype(), dtype);
        EXPECT_EQ(y.values(), (std::vector<double>{0, 0, 1, 0}));
    }
}

TEST(Indexing, KeepsImagesChannelsLast) {
    const Tensor x = Tensor::of({0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 2, 2});
    const Tensor nhwc = Tensor::empty({1, 2, 2, 2}, DType::f32, x.device(), Layout::channels_last);
    nhwc.copy_from_host(std::vector<float>{0, 4, 1, 5, 2, 6, 3, 7}.data());
    for (int dim = 0; dim < 4; ++dim) {
        const Tensor index = dim == 0 ? gather_places({0, 0}) : gather_places({1, 0, 1});
        const Tensor y = index_select(nhwc, dim, index);
        EXPECT_TRUE(y.is_channels_last());
        EXPECT_EQ(y.values(), index_select(x, dim, index).values());
    }
}

TEST(Indexing, TakesRowsOfZerosWhereTheIndexIsMinusOne) {
    Tensor x = Tensor::of({1, 2, 3, 4}, {2, 2});
    x.set_requires_grad(true);
    const Tensor y = rows_or_zeros(x, 0, gather_places({-1, 1, -1, 1}));
    EXPECT_EQ(y.values(), (std::vector<double>{0, 0, 3, 4, 0, 0, 3, 4}));
    backward({&y, 1}, std::vector{Tensor::of({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})});
    EXPECT_EQ(x.grad().values(), (std::vector<double>{0, 0, 10, 12}));
}

TEST(Indexing, TakesIndicesOfThirtyTwoBitsAndOfZeroDimensions) {
    const Tensor x = Tensor::of({1, 2, 3}, {3});
    EXPECT_EQ(index_select(x, 0, Tensor::of({2, 1}, {2}, DType::i32)).values(),
              (std::vector<double>{3, 2}));
    EXPECT_EQ(index_select(x, 0, Tensor::of({2}, {}, DType::i64)).shape(), Shape({1}));
    EXPECT_EQ(index_select(x, 0, gather_places({})).shape(), Shape({0}));
}

TEST(Indexing, RefusesAnIndexOfNumbers) {
    const Tensor x = Tensor::of({1, 2, 3}, {3});
    EXPECT_SAYS(message_of(ErrorCode::dtype, [&] { index_select(x, 0, Tensor::of({1}, {1})); }),
                "f32");
    message_of(ErrorCode::shape, [&] { index_select(x, 0, gather_places({1, 1}, {1, 2})); });
    message_of(ErrorCode::shape, [&] { gather(x, 0, gather_places({1, 1}, {1, 2})); });
}

TEST(Indexing, AddsEqualIndicesInF32AndRoundsOnce) {
    const Tensor x = Tensor::of({1, 1}, {2}, DType::f16);
    const Tensor source = Tensor::of({0x1p-11, 0x1p-11, 5}, {3}, DType::f16);
    const Tensor expected = Tensor::of({1 + 0x1p-10, 6}, {2}, DType::f16);
    EXPECT_EQ(index_add(x, 0, gather_places({0, 0, 1}), source).values(), expected.values());
    EXPECT_EQ(scatter_add(x, 0, gather_places({0, 0, 1}), source).values(), expected.values());
}

TEST(Indexing, ScatterAddLeavesWhatTheIndexDoesNotReach) {
    const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, {3, 2});
    const Tensor y =
        scatter_add(x, 0, gather_places({2, 2}, {2, 1}), Tensor::of({10, 0, 20, 0}, {2, 2}));
    EXPECT_EQ(y.values(), (std::vector<double>{1, 2, 3, 4, 35, 6}));
}

// autocast.md#operations-without-an-entry (1.11): index_add needs equal types inside a region too;
// scatter_add is on the promote list.
TEST(Indexing, IndexAddRefusesMixedTypesInsideToo) {
    const Tensor x = Tensor::of({1, 2}, {2}), low = Tensor::of({1}, {1}, DType::f16);
    const auto call = [&] { index_add(x, 0, gather_places({1}), low); };
    for (const bool inside : {false, true}) {
        const AutocastRegion region(here, inside, DType::f16);
        const auto entry = region.enter();
        const std::string text = message_of(ErrorCode::dtype, call);
        EXPECT_SAYS(text, "f32");
        EXPECT_SAYS(text, "f16");
    }
}

TEST(Indexing, A13_ScatterAddWithEitherSideLow) {
    const Tensor wide = Tensor::of({1, 2}, {2}), low = Tensor::of({1, 3}, {2}, DType::f16);
    const Tensor index = gather_places({1, 0});
    message_of(ErrorCode::dtype, [&] { scatter_add(wide, 0, index, low); });
    message_of(ErrorCode::dtype, [&] { scatter_add(low, 0, index, wide); });
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    for (const auto& y : {scatter_add(wide, 0, index, low), scatter_add(low, 0, index, wide)})
        EXPECT_EQ(y.dtype(), DType::f32);
    EXPECT_EQ(scatter_add(wide, 0, index, low).values(), (std::vector<double>{4, 3}));
    EXPECT_EQ(scatter_add(low, 0, index, low).dtype(), DType::f16);
}

// autocast.md#operations-without-an-entry (1.11): these need equal types inside a region too;
// index_put is on the promote list.
TEST(Indexing, WritesRefuseMixedTypesInsideToo) {
    const Tensor x = Tensor::of({1, 2}, {2}), low = Tensor::of({1}, {1}, DType::f16);
    const Tensor at = gather_places({1}), mask = Tensor::of({0, 1}, {2}, DType::boolean);
    const std::vector<std::function<void()>> calls = {
        [&] { scatter(x, 0, at, low); },    [&] { scatter_reduce(x, 0, at, low, "sum"); },
        [&] { index_copy(x, 0, at, low); }, [&] { masked_scatter(x, mask, low); },
        [&] { index_put_(x, {at}, low); },
    };
    for (const bool inside : {false, true}) {
        const AutocastRegion region(here, inside, DType::f16);
        const auto entry = region.enter();
        for (const auto& call : calls) {
            const std::string text = message_of(ErrorCode::dtype, call);
            EXPECT_SAYS(text, "f32");
            EXPECT_SAYS(text, "f16");
        }
    }
    message_of(ErrorCode::dtype, [&] { index_put(x, {at}, low); });
}

TEST(Indexing, A13_IndexPutWithEitherSideLow) {
    const Tensor wide = Tensor::of({1, 2}, {2}), low = Tensor::of({1, 3}, {2}, DType::f16);
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    for (const bool accumulate : {false, true}) {
        const Tensor index = gather_places({1, 0});
        EXPECT_EQ(index_put(wide, {index}, low, accumulate).dtype(), DType::f32);
        EXPECT_EQ(index_put(low, {index}, wide, accumulate).dtype(), DType::f32);
        EXPECT_EQ(index_put(low, {index}, low, accumulate).dtype(), DType::f16);
    }
    EXPECT_EQ(index_put(wide, {gather_places({1, 0})}, low, true).values(),
              (std::vector<double>{4, 3}));
}

// A14, X1: stack has no entry; mixed inputs promote natively, inside a region too.
TEST(Indexing, A14_StackPromotesNatively) {
    const Tensor wide = Tensor::of({1, 2}, {2}), low = Tensor::of({1, 3}, {2}, DType::f16);
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    EXPECT_EQ(stack({low, wide}).dtype(), DType::f32);
    EXPECT_EQ(stack({low, Tensor::of({1, 3}, {2}, DType::bf16)}).dtype(), DType::f32);
    EXPECT_EQ(stack({low, low}).dtype(), DType::f16);
}

TEST(Indexing, RefusesMasksAndTooManyIndices) {
    const Tensor x = Tensor::of({1, 2}, {2});
    EXPECT_SAYS(message_of(ErrorCode::dtype,
                           [&] {
                               index(x, {Tensor::of({0, 1}, {2}, DType::boolean)});
                           }),
                "bool");
    message_of(ErrorCode::shape, [&] { index(x, {gather_places({0}), gather_places({0})}); });
    message_of(ErrorCode::value, [&] { index(x, {Tensor()}); });
    message_of(ErrorCode::value, [&] { scatter_reduce(x, 0, gather_places({0}), x, "median"); });
}

TEST(Indexing, TakesEmptyTensors) {
    Tensor none = Tensor::zeros({0, 3}, DType::f32), x = Tensor::zeros({2, 3}, DType::f32);
    none.set_requires_grad(true);
    x.set_requires_grad(true);
    const Tensor no_rows = gather_places({}), no_places = gather_places({}, {0, 3});
    const TensorList results{index_select(none, 0, no_rows),
                             index_select(x, 0, no_rows),
                             gather(none, 0, no_places),
                             index_add(x, 0, no_rows, none),
                             scatter_add(x, 0, no_places, none),
                             scatter(x, 0, no_places, none),
                             scatter_reduce(x, 0, no_places, none, "mean", false),
                             index_copy(x, 0, no_rows, none),
                             index(x, {no_rows}),
                             index_put(x, {no_rows}, none, true),
                             masked_fill(none, Tensor::zeros({0, 1}, DType::boolean), 1.0),
                             masked_scatter(x, Tensor::zeros({2, 3}, DType::boolean), none),
                             flip(none, {0}),
                             roll(none, {1}, {0}),
                             repeat(none, {2, 0}),
                             tril(none),
                             slice(none, 0, 0, 5, 2)};
    const std::int64_t sizes[] = {0, 0, 0, 6, 6, 6, 6, 6, 0, 6, 0, 6, 0, 0, 0, 0, 0};
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i].numel(), sizes[i]) << i;
        const Tensor seed = Tensor::zeros(results[i].shape(), DType::f32);
        backward({&results[i], 1}, {&seed, 1});
    }
}

TEST(Indexing, TheLastOfSeveralStays) {
    const Tensor x = Tensor::of({1, 2}, {2}), source = Tensor::of({7, 8, 9}, {3});
    const std::vector<double> expected{8, 9};
    const Tensor at = gather_places({0, 0, 1});
    EXPECT_EQ(scatter(x, 0, at, source).values(), expected);
    EXPECT_EQ(index_copy(x, 0, at, source).values(), expected);
    EXPECT_EQ(index_put(x, {at}, source).values(), expected);
}

TEST(Indexing, ScatterReduceSharesTheGradientOfEqualExtremes) {
    Tensor x = Tensor::of({5, 0}, {2}), source = Tensor::of({5, 5, 1}, {3});
    x.set_requires_grad(true);
    source.set_requires_grad(true);
    const Tensor y = scatter_reduce(x, 0, gather_places({0, 0, 1}), source, "amax");
    EXPECT_EQ(y.values(), (std::vector<double>{5, 1}));
    backward({&y, 1}, std::vector{Tensor::of({6, 2}, {2})});
    EXPECT_EQ(x.grad().values(), (std::vector<double>{2, 0}));
    EXPECT_EQ(source.grad().values(), (std::vector<double>{2, 2, 2}));
}

TEST(Indexing, ScatterReduceProductHasItsGradientAtZero) {
    Tensor x = Tensor::of({2}, {1}), source = Tensor::of({0, 3}, {2});
    x.set_requires_grad(true);
    source.set_requires_grad(true);
    backward(scatter_reduce(x, 0, gather_places({0, 0}), source, "prod"));
    EXPECT_EQ(x.grad().values(), (std::vector<double>{0}));
    EXPECT_EQ(source.grad().values(), (std::vector<double>{6, 0}));
}

TEST(Indexing, ScatterReduceProductHasNoGradientWhereItsTargetIsInfinite) {
    Tensor x = Tensor::of({INFINITY, 0, 3, INFINITY}, {4});
    x.set_requires_grad(true);
    backward(
        sum(scatter_reduce(x, 0, gather_places({0, 1, 2}), Tensor::of({2, 5, 7}, {3}), "prod")));
    const auto dx = x.grad().values();
    // inf / inf in PyTorch, also for the element that receives nothing.
    EXPECT_TRUE(std::isnan(dx[0]));
    EXPECT_TRUE(std::isnan(dx[3]));
    EXPECT_EQ(dx[1], 5);
    EXPECT_EQ(dx[2], 7);
}

TEST(Indexing, MaskedScatterTakesTheSourceInOrder) {
    const Tensor mask = Tensor::of({1, 0, 1}, {3}, DType::boolean);
    const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3}, DType::i64);
    const Tensor source = Tensor::of({10, 20, 30, 40, 50}, {5}, DType::i64);
    EXPECT_EQ(masked_scatter(x, mask, source).values(),
              (std::vector<double>{10, 2, 20, 30, 5, 40}));
}

TEST(Parts, SliceAsPythonDoes) {
    const Tensor x = Tensor::of({0, 1, 2, 3, 4}, {5});
    EXPECT_EQ(slice(x, 0, -3).values(), (std::vector<double>{2, 3, 4}));
    EXPECT_EQ(slice(x, 0, {}, {}, 2).values(), (std::vector<double>{0, 2, 4}));
    EXPECT_EQ(slice(x, 0, 4, 2).shape(), Shape({0}));
    EXPECT_EQ(slice(x, 0, -99, 99, 3).values(), (std::vector<double>{0, 3}));
    message_of(ErrorCode::value, [&] { slice(x, 0, {}, {}, -1); });
    message_of(ErrorCode::value, [&] { select(x, 0, 5); });
    message_of(ErrorCode::shape, [&] { select(Tensor::scalar(1), 0, 0); });
}

TEST(Parts, ViewsShareTheirMemory) {
    const Tensor x = Tensor::of({0, 1, 2, 3, 4, 5}, {3, 2});
    const TensorList views{slice(x, 0, 0, {}, 2), select(x, 0, 0), unsqueeze(x, 1), squeeze(x),
                           unbind(x, 1)[0],       split(x, 2)[0],  chunk(x, 2)[0]};
    for (const auto& view : views) EXPECT_EQ(view.data(), x.data());
}

TEST(Parts, RefusesWhatDoesNotFit) {
    const Tensor x = Tensor::of({0, 1, 2, 3, 4, 5}, {3, 2});
    message_of(ErrorCode::value, [&] { split(x, std::vector<std::int64_t>{1, 1}); });
    message_of(ErrorCode::value, [&] { split(x, 0); });
    message_of(ErrorCode::value, [&] { chunk(x, 0); });
    message_of(ErrorCode::value, [&] { stack({}); });
    message_of(ErrorCode::shape, [&] { stack({x, Tensor::of({1}, {1})}); });
    message_of(ErrorCode::value, [&] { flip(x, {0, -2}); });
    message_of(ErrorCode::value, [&] { roll(x, {1, 2}, {0}); });
    message_of(ErrorCode::shape, [&] { repeat(x, {2}); });
    message_of(ErrorCode::shape, [&] { tril(Tensor::of({1}, {1})); });
}

}  // namespace
}  // namespace engine
