#include "ops/norm/batch_counts.h"

#include <gtest/gtest.h>

#include "kernels/cuda_device.h"

namespace engine {
namespace {

/// The batch counts of three batch norms.
struct Counts {
    Tensor first = Tensor::zeros({}, DType::i64), second = Tensor::full({}, 7, DType::i64),
           third = Tensor::zeros({}, DType::i64);

    std::vector<double> values() const {
        return {first.values()[0], second.values()[0], third.values()[0]};
    }
};
using Values = std::vector<double>;

TEST(BatchCounts, AreAddedAtOnceWithoutAnObject) {
    const Counts counts;
    count_batch(counts.first);
    count_batch(counts.second);
    EXPECT_EQ(counts.values(), (Values{1, 8, 0}));
}

TEST(BatchCounts, AreAddedTogetherWithOneKernel) {
    const Counts counts;
    BatchCounts seen;
    for (const Tensor& each : {counts.first, counts.second, counts.third}) count_batch(each);
    EXPECT_EQ(counts.values(), (Values{0, 7, 0}));
    const std::int64_t before = kernels::cuda::call_counts().launches;
    seen.count();
    const bool on_gpu = default_device().kind == Device::Kind::cuda;
    EXPECT_EQ(kernels::cuda::call_counts().launches, before + (on_gpu ? 1 : 0));
    EXPECT_EQ(counts.values(), (Values{1, 8, 1}));
    seen.count();
    EXPECT_EQ(counts.values(), (Values{1, 8, 1})) << "they have been";
}

TEST(BatchCounts, CountALayerThatIsUsedTwiceTwice) {
    const Counts counts;
    BatchCounts seen;
    for (int i = 0; i < 3; ++i) {
        count_batch(counts.first);
        if (i > 0) count_batch(counts.second);
    }
    seen.count();
    EXPECT_EQ(counts.values(), (Values{3, 9, 0}));
}

TEST(BatchCounts, GoToTheInnermostObject) {
    const Counts counts;
    BatchCounts outer;
    count_batch(counts.first);
    {
        BatchCounts inner;
        count_batch(counts.second);
        inner.count();
    }
    EXPECT_EQ(counts.values(), (Values{0, 8, 0}));
    outer.count();
    EXPECT_EQ(counts.values(), (Values{1, 8, 0}));
}

}  // namespace
}  // namespace engine
