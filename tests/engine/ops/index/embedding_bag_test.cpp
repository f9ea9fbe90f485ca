#include "ops/index/embedding_bag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "embedding_support.h"
#include "engine/base/error.h"
#include "ops/index/sparse.h"
#include "support/expectations.h"
#include "support/here.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

using testing::HasSubstr;

Tensor numbers(const Values& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64);
}
constexpr EmbeddingBagOptions sums{.mode = BagMode::sum};

TEST(EmbeddingBag, SumsAndAveragesBagsBetweenOffsets) {
    const Tensor index = numbers({2, 0, 1, 1}), offsets = numbers({0, 2, 2});
    EXPECT_EQ(embedding_bag(index, table(), offsets, {}, sums).values(),
              (Values{6, 8, 0, 0, 6, 8}));
    EXPECT_EQ(embedding_bag(index, table(), offsets).values(), (Values{3, 4, 0, 0, 3, 4}));
    const Tensor ends = numbers({0, 2, 2, 3});
    const EmbeddingBagOptions with_end{.mode = BagMode::sum, .include_last_offset = true};
    EXPECT_EQ(embedding_bag(index, table(), ends, {}, with_end).values(),
              (Values{6, 8, 0, 0, 3, 4}))
        << "the last index is behind the last end";
}

TEST(EmbeddingBag, TakesRowsOfAnIndexAsBagsOfOneLength) {
    const Tensor index = Tensor::of({2, 0, 1, 1}, {2, 2}, DType::i32);
    EXPECT_EQ(embedding_bag(index, table(), {}, {}, sums).values(), (Values{6, 8, 6, 8}));
    EXPECT_EQ(embedding_bag(Tensor::zeros({3, 0}, DType::i64), table()).values(),
              (Values{0, 0, 0, 0, 0, 0}));
}

TEST(EmbeddingBag, SampleWeightsMultiplyRowsAndGetTheirGradient) {
    Tensor weights = Tensor::of({2, 3, -1}, {3});
    weights.set_requires_grad(true);
    const Tensor weight = table();
    const Tensor y = embedding_bag(numbers({2, 0, 2}), weight, numbers({0, 2}), weights, sums);
    EXPECT_EQ(y.values(), (Values{13, 18, -5, -6}));
    send_back(y, {1, 10, 100, 1000});
    EXPECT_EQ(weight.grad().values(), (Values{3, 30, 0, 0, -98, -980}));
    EXPECT_EQ(weights.grad().values(), (Values{65, 21, 6500}));
}

TEST(EmbeddingBag, ThePaddingRowTakesNoPart) {
    for (const bool sparse : {false, true}) {
        const Tensor weight = table();
        const EmbeddingBagOptions options{.padding_idx = -1, .sparse = sparse};
        const Tensor y =
            embedding_bag(numbers({2, 0, 1, 2, 2}), weight, numbers({0, 3}), {}, options);
        EXPECT_EQ(y.values(), (Values{2, 3, 0, 0})) << "means of two rows and of none";
        send_back(y, {2, 4, 6, 8});
        EXPECT_EQ(to_dense(weight.grad()).values(), (Values{1, 2, 1, 2, 0, 0}));
    }
}

TEST(EmbeddingBag, ASparseGradientIsTheDenseOne) {
    for (const BagMode mode : {BagMode::sum, BagMode::mean}) {
        const Tensor index = numbers({2, 0, 2, 2, 1}), offsets = numbers({0, 1, 4});
        const Tensor dense = table(), sparse = table();
        const Values dy{1, 2, 3, 6, 5, 8};
        send_back(embedding_bag(index, dense, offsets, {}, {.mode = mode}), dy);
        send_back(embedding_bag(index, sparse, offsets, {}, {.mode = mode, .sparse = true}), dy);
        ASSERT_TRUE(sparse.grad().is_sparse());
        EXPECT_EQ(sparse_parts(sparse.grad()).indices.values(), (Values{2, 0, 2, 2, 1}));
        EXPECT_EQ(to_dense(sparse.grad()).values(), dense.grad().values());
    }
}

TEST(EmbeddingBag, AnF32TableStaysF32InARegion) {
    const AutocastRegion region(here, true, DType::f16);
    const auto entry = region.enter();
    EXPECT_EQ(embedding_bag(numbers({0}), table(), numbers({0})).dtype(), DType::f32);
    EXPECT_EQ(embedding_bag(numbers({0}), table(DType::f16), numbers({0})).dtype(), DType::f16);
}

TEST(EmbeddingBag, SumsOf16BitRowsAreRoundedOnce) {
    // In f16 2048 + 1 rounds to 2048, but 2048 + 1 + 1 is 2050.
    const Tensor weight = Tensor::of({2048, 1}, {2, 1}, DType::f16);
    EXPECT_EQ(embedding_bag(numbers({0, 1, 1}), weight, numbers({0}), {}, sums).values(),
              (Values{2050}));
}

TEST(EmbeddingBag, RefusesWhatDoesNotFit) {
    const Tensor index = numbers({2, 0}), offsets = numbers({0, 1});
    const auto refused = [](ErrorCode code, const char* words, auto call) {
        EXPECT_THAT(message_of(code, [&] { (void)call().values(); }), HasSubstr(words));
    };
    refused(ErrorCode::shape, "needs an index", [&] { return embedding_bag(index, table()); });
    refused(ErrorCode::shape, "takes no offsets", [&] {
        return embedding_bag(Tensor::zeros({2, 2}, DType::i64), table(), offsets);
    });
    refused(ErrorCode::value, "sample weights need the mode sum", [&] {
        return embedding_bag(index, table(), offsets, Tensor::of({1, 1}, {2}));
    });
    refused(ErrorCode::value, "padding_idx 3",
            [&] { return embedding_bag(index, table(), offsets, {}, {.padding_idx = 3}); });
    refused(ErrorCode::value, "index 3 is out of range",
            [&] { return embedding_bag(numbers({3}), table(), numbers({0})); });
    refused(ErrorCode::value, "the first offset is 1", [&] {
        return embedding_bag(index, table(), numbers({1, 2}));
    });
    refused(ErrorCode::value, "offsets must ascend", [&] {
        return embedding_bag(index, table(), numbers({0, 2, 1}));
    });
    refused(ErrorCode::value, "index 7 is out of range", [&] {
        return embedding_bag(index, table(), numbers({0, 7}));
    });
    const Tensor weight = table();
    const Tensor y = embedding_bag(index, weight, offsets, {}, {.sparse = true});
    EXPECT_THROW(grad({&y, 1}, {&weight, 1}, std::vector{y.detach()}, {.create_graph = true}),
                 Error);
}

}  // namespace
}  // namespace engine
