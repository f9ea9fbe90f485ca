#include "kernels/scores.h"

#include "kernels/cuda_device.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

struct Sums {
    double values[3] = {};
};

/// The sums for scores and labels, computed on the CPU.
Sums sums_of(Buffer& scores, Buffer& labels) {
    std::vector<std::int64_t> histogram(static_cast<std::size_t>(ScoreBins::size));
    Sums sums;
    cpu::count_scores(histogram.data(), scores, labels, {});
    cpu::add_score_pairs(sums.values, histogram.data(), {});
    return sums;
}

Buffer random_labels(std::int64_t n, unsigned seed) {
    Buffer labels(DType::i64, n);
    std::mt19937 engine(seed);
    for (std::int64_t i = 0; i < n; ++i) labels.set(i, engine() % 3 == 0 ? 1 : 0);
    return labels;
}

/// The number of ordered pairs by the definition. Ties count half.
double pairs_in_order(const Buffer& scores, const Buffer& labels) {
    double ordered = 0;
    for (std::int64_t i = 0; i < scores.size(); ++i) {
        for (std::int64_t j = 0; j < scores.size(); ++j) {
            if (labels.get(i) != 1 || labels.get(j) != 0) continue;
            ordered += scores.get(i) > scores.get(j) ? 1 : scores.get(i) == scores.get(j) ? 0.5 : 0;
        }
    }
    return ordered;
}

TEST(Scores, GiveTheExactAucWhereEveryScoreHasABinOfItsOwn) {
    const std::int64_t n = 400;
    for (const DType dtype : {DType::f64, DType::f32}) {
        Buffer scores(dtype, n), labels = random_labels(n, 1);
        // Middles of bins of width 1/256; each score occurs twice.
        for (std::int64_t i = 0; i < n; ++i)
            scores.set(i, (static_cast<double>(i * 71 % (n / 2)) - 100 + 0.5) / 256);
        const Sums sums = sums_of(scores, labels);
        EXPECT_EQ(sums.values[0], pairs_in_order(scores, labels));
        double ones = 0, right = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            ones += labels.get(i);
            right += (scores.get(i) >= 0) == (labels.get(i) == 1) ? 1 : 0;
        }
        EXPECT_EQ(sums.values[1], ones * (static_cast<double>(n) - ones));
        EXPECT_EQ(sums.values[2], right);
    }
}

TEST(Scores, AreOffByAtMostHalfThePairsOfOneBin) {
    const std::int64_t n = 2000;
    Buffer scores = random_buffer(DType::f32, n, 3), labels = random_labels(n, 2);
    double in_one_bin = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            in_one_bin +=
                labels.get(i) == 1 && labels.get(j) == 0 &&
                        ScoreBins::bin_of(scores.get(i)) == ScoreBins::bin_of(scores.get(j))
                    ? 1
                    : 0;
    const double off = sums_of(scores, labels).values[0] - pairs_in_order(scores, labels);
    EXPECT_GT(in_one_bin, 0);
    EXPECT_LE(std::fabs(off), in_one_bin / 2);
}

TEST(Scores, PutInfinitiesIntoTheOuterBinsAndANaNSpoilsTheAucAlone) {
    Buffer scores(DType::f32, {inf, -inf, 1e30, -17}), labels(DType::i64, {1, 0, 1, 0});
    const Sums sums = sums_of(scores, labels);
    EXPECT_EQ(sums.values[0], 4);
    EXPECT_EQ(sums.values[1], 4);
    EXPECT_EQ(sums.values[2], 4);
    Buffer broken(DType::f32, {static_cast<double>(nan), 1}), two(DType::i64, {1, 0});
    EXPECT_TRUE(std::isnan(sums_of(broken, two).values[0]));
}

TEST(CudaScores, AreCountedAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const std::int64_t n : {0, 1, 500, 70'001}) {
            Buffer scores = random_buffer(dtype, n, 4), labels = random_labels(n, 5);
            Buffer expected(DType::i64, ScoreBins::size);
            cpu::count_scores(expected.as<std::int64_t>(), scores, labels, {});
            const DeviceBuffer histogram{Buffer(DType::i64, ScoreBins::size)};
            cuda::count_scores(histogram.as<std::int64_t>(), DeviceBuffer(scores),
                               DeviceBuffer(labels), {});
            EXPECT_TRUE(same(histogram.host(), expected));
            Sums sums{{1, 2, 3}};
            const DeviceValue<Sums> there(sums);
            cpu::add_score_pairs(sums.values, expected.as<std::int64_t>(), {});
            cuda::add_score_pairs(there.get()->values, histogram.as<std::int64_t>(), {});
            // Integers and halves below 2^53 are exact in any order.
            for (int k = 0; k < 3; ++k) EXPECT_EQ(there.host().values[k], sums.values[k]);
        }
    }
}

}  // namespace
}  // namespace kernels::test
