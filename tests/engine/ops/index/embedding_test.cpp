#include "ops/index/embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "embedding_support.h"
#include "engine/base/error.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "support/here.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

Tensor places(const Values& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64);
}

TEST(Embedding, GivesRowsInTheShapeOfTheIndex) {
    const Tensor weight = table();
    const Tensor y = embedding(Tensor::of({2, 0, 0, 1}, {2, 2}, DType::i32), weight);
    EXPECT_EQ(y.shape(), Shape({2, 2, 2}));
    EXPECT_EQ(y.values(), (Values{5, 6, 1, 2, 1, 2, 3, 4}));
    EXPECT_EQ(embedding(Tensor::of({1}, {}, DType::i64), weight).shape(), Shape({2}));
    EXPECT_EQ(embedding(places({}), weight).shape(), Shape({0, 2}));
}

// autocast.md#result-types (1.10): embedding with an f32 table stays f32 in a region.
TEST(Embedding, AnF32TableStaysF32InARegion) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    EXPECT_EQ(embedding(places({0}), table()).dtype(), DType::f32);
    EXPECT_EQ(embedding(places({0}), table(DType::bf16)).dtype(), DType::bf16);
}

TEST(Embedding, ThePaddingRowTakesNoGradient) {
    for (const std::int64_t padding : {2, -1}) {
        const Tensor weight = table();
        send_back(embedding(places({2, 0, 2, 0}), weight, {.padding_idx = padding}),
                  {1, 2, 3, 4, 5, 6, 7, 8});
        EXPECT_EQ(weight.grad().values(), (Values{10, 12, 0, 0, 0, 0}));
    }
    EXPECT_THROW(embedding(places({0}), table(), {.padding_idx = 3}), Error);
}

TEST(Embedding, ScaleGradByFreqGivesTheMean) {
    const Tensor weight = table(DType::f16);
    send_back(embedding(places({2, 0, 2, 2}), weight, {.scale_grad_by_freq = true}),
              {1, 2, 3, 4, 5, 6, 9, 7});
    EXPECT_EQ(weight.grad().values(), (Values{3, 4, 0, 0, 5, 5}));
}

TEST(SparseGradient, HoldsTheRowsThatTheIndexNames) {
    const Tensor weight = table();
    send_back(embedding(places({2, 0, 2}), weight, {.sparse = true}), {1, 2, 3, 4, 5, 6});
    const Tensor grad = weight.grad();
    ASSERT_TRUE(grad.is_sparse());
    EXPECT_EQ(grad.shape(), weight.shape());
    EXPECT_EQ(sparse_parts(grad).indices.values(), (Values{2, 0, 2}));
    EXPECT_EQ(sparse_parts(grad).values.values(), (Values{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(to_dense(grad).values(), (Values{3, 4, 0, 0, 6, 8}));
    const Tensor once = coalesce(grad);
    EXPECT_TRUE(sparse_parts(once).coalesced);
    EXPECT_EQ(sparse_parts(once).indices.values(), (Values{0, 2, -1})) << "room for each entry";
    EXPECT_EQ(sparse_parts(once).values.values(), (Values{3, 4, 6, 8, 0, 0}));
    EXPECT_EQ(to_dense(once).values(), to_dense(grad).values());
    EXPECT_EQ(place_numbers(once).values(), (Values{0, 2, -1}));
}

TEST(SparseGradient, AddsUpOverPassesAndMeetsADenseOne) {
    const Tensor weight = table();
    const auto look_up = [&] { return embedding(places({1}), weight, {.sparse = true}); };
    send_back(look_up(), {1, 2});
    send_back(look_up(), {10, 20});
    ASSERT_TRUE(weight.grad().is_sparse());
    EXPECT_EQ(sparse_parts(weight.grad()).indices.shape(), Shape({1, 2}));
    EXPECT_EQ(to_dense(weight.grad()).values(), (Values{0, 0, 11, 22, 0, 0}));
    backward(add(sum(look_up()), sum(weight)));
    ASSERT_FALSE(weight.grad().is_sparse());
    EXPECT_EQ(weight.grad().values(), (Values{1, 1, 13, 24, 1, 1}));
}

TEST(SparseGradient, OwnsItsValues) {
    const Tensor weight = table();
    const Tensor y = embedding(places({1, 0}), weight, {.sparse = true});
    const Tensor dy = Tensor::of({1, 2, 3, 4}, {2, 2});
    backward({&y, 1}, {&dy, 1});
    EXPECT_NE(sparse_parts(weight.grad()).values.data(), dy.data());
}

TEST(SparseGradient, LeavesThePaddingRowAtZero) {
    const Tensor weight = table();
    const double inf = std::numeric_limits<double>::infinity();
    send_back(embedding(places({1, 0}), weight, {.padding_idx = 1, .sparse = true}),
              {inf, 2, 3, 4});
    EXPECT_EQ(to_dense(weight.grad()).values(), (Values{3, 4, 0, 0, 0, 0}));
}

TEST(SparseGradient, CoalescesPlacesOfTwoDimensions) {
    const Tensor x = sparse_tensor(Tensor::of({0, 1, 1, 0, 2, 0, 2, 2}, {2, 4}, DType::i64),
                                   Tensor::of({16, 32, 64, 1}, {4}), {2, 3});
    EXPECT_EQ(to_dense(x).values(), (Values{0, 0, 17, 32, 0, 64}));
    const Tensor y = sparse_tensor(Tensor::of({1, 0, 1, 2, 1, 2}, {2, 3}, DType::i64),
                                   Tensor::of({16, 32, 64}, {3}, DType::f16), {2, 3});
    const Tensor once = coalesce(y);
    EXPECT_EQ(sparse_parts(once).indices.values(), (Values{0, 1, -1, 1, 2, -1}));
    EXPECT_EQ(sparse_parts(once).values.values(), (Values{32, 80, 0}));
    EXPECT_EQ(to_dense(once).values(), to_dense(y).values());
    EXPECT_EQ(place_numbers(once).values(), (Values{1, 5, -1}));
    EXPECT_EQ(to_dense(add_sparse(once, y)).values(), (Values{0, 64, 0, 0, 0, 160}));
}

TEST(SparseGradient, IsRefusedWhereElementsAreRead) {
    const Tensor weight = table();
    const Tensor doubled = mul(weight, 2.0);
    EXPECT_THROW(send_back(embedding(places({1}), doubled, {.sparse = true}), {1, 2}), Error);
    EXPECT_THROW(sparse_parts(weight), Error);
    const Tensor y = embedding(places({1}), weight, {.sparse = true});
    EXPECT_THROW(grad({&y, 1}, {&weight, 1}, std::vector{y.detach()}, {.create_graph = true}),
                 Error);
}

TEST(SparseGradient, ChecksItsParts) {
    const Tensor indices = Tensor::of({0, 1}, {1, 2}, DType::i64);
    EXPECT_THROW(sparse_tensor(indices, Tensor::of({1}, {1}), {3}), Error);
    EXPECT_THROW(sparse_tensor(indices, Tensor::of({1, 2}, {2}), {3, 2}), Error);
    EXPECT_THROW(sparse_tensor(indices, Tensor::of({1, 2}, {2, 1}), {3, 2}), Error);
    if (here == Device::Kind::cuda) return;
    EXPECT_THROW(sparse_tensor(indices, Tensor::of({1, 2}, {2}), {1}), Error);
}

}  // namespace
}  // namespace engine
