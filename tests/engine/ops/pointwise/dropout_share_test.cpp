#include <gtest/gtest.h>

#include "ops/pointwise/dropout.h"
#include "ops/shape/view.h"

// decisions.md#randomness (D7): the mask of a sample does not depend on the rank that computes it.
namespace engine {
namespace {

const RandomStream stream(7, StreamId::dropout, 3);
constexpr std::uint64_t offset = 1001;

/// Applies dropout to a batch of ones, part by part along `dim`, and joins the parts.
Tensor dropped_by_parts(const Shape& whole, int dim, int ranks, std::int64_t runs) {
    TensorList parts;
    for (int rank = 0; rank < ranks; ++rank) {
        RandomSource source(stream);
        source.share = share_of(whole[dim], rank, ranks);
        if (source.share.idle()) continue;
        Shape shape = whole;
        shape[dim] = source.share.rows;
        parts.push_back(dropout(Tensor::full(shape, 1, DType::f32), 0.4, source, offset, runs));
    }
    return cat(parts, dim);
}

TEST(DropoutShare, PartsOfABatchDropWhatTheWholeBatchDrops) {
    for (const int ranks : {1, 2, 3, 4, 11}) {
        const Shape whole{7, 3, 5};
        const Tensor wanted = dropout(Tensor::full(whole, 1, DType::f32), 0.4, stream, offset);
        EXPECT_EQ(dropped_by_parts(whole, 0, ranks, 1).values(), wanted.values()) << ranks;
    }
}

TEST(DropoutShare, SoDoPartsOfABatchInsideTheStepsOfASequence) {
    for (const int ranks : {2, 3, 4}) {
        const Shape whole{6, 7, 5};
        const Tensor wanted = dropout(Tensor::full(whole, 1, DType::f32), 0.4, stream, offset);
        EXPECT_EQ(dropped_by_parts(whole, 1, ranks, 6).values(), wanted.values()) << ranks;
    }
}

TEST(DropoutShare, EveryRankMovesOnByTheNumbersOfTheWholeBatch) {
    StepRandom whole(1, {}), part(1, {});
    whole.begin(2);
    part.begin(2, share_of(10, 1, 4));  // rows 3 to 5
    EXPECT_EQ(whole.take(10 * 6), part.take(3 * 6));
    EXPECT_EQ(whole.take(10 * 8), part.take(3 * 8));
    EXPECT_EQ(whole.take(1), part.take(1));
}

}  // namespace
}  // namespace engine
