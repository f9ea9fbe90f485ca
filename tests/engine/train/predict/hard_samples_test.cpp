#include "train/predict/hard_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace engine {
namespace {

HardSample of_loss(std::int64_t index, double loss) {
    HardSample out;
    out.index = index;
    out.loss = loss;
    return out;
}

/// The places of the hardest samples of a part with these losses.
std::vector<std::int64_t> hardest(std::size_t most, const std::vector<double>& losses) {
    HardSamples kept(most);
    for (std::size_t i = 0; i < losses.size(); ++i)
        kept.see(of_loss(static_cast<std::int64_t>(i), losses[i]));
    std::vector<std::int64_t> out;
    for (const HardSample& sample : kept.take()) out.push_back(sample.index);
    return out;
}

TEST(HardSamples, AreThoseOfTheLargestLossInOrder) {
    EXPECT_THAT(hardest(3, {1, 4, 2, 5, 3}), ::testing::ElementsAre(3, 1, 4));
    EXPECT_THAT(hardest(2, {1, 1, 1}), ::testing::ElementsAre(0, 1));
    EXPECT_THAT(hardest(0, {1, 2}), ::testing::IsEmpty());
    EXPECT_THAT(hardest(9, {1, 2}), ::testing::ElementsAre(1, 0));
}

TEST(HardSamples, NaNIsTheHardestWhereverItComes) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THAT(hardest(2, {3, 1, nan}), ::testing::ElementsAre(2, 0));
    EXPECT_THAT(hardest(2, {nan, 3, 1}), ::testing::ElementsAre(0, 1));
    EXPECT_THAT(hardest(3, {infinity, 3, nan, infinity, nan, 2}), ::testing::ElementsAre(2, 4, 0));
    EXPECT_THAT(hardest(6, {1, nan, 5, nan, 2, infinity}),
                ::testing::ElementsAre(1, 3, 5, 2, 4, 0));
}

TEST(HardSamples, TheClassOfAnInfiniteScoreIsPredicted) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const HardSample sample = judged_by(std::array{1.0, infinity, 0.0}, 0);
    EXPECT_EQ(sample.predicted, 1);
    EXPECT_EQ(sample.probability, 1);
    EXPECT_EQ(sample.label, 0);
    EXPECT_TRUE(std::isnan(sample.loss)) << "as the loss of its batch";
    EXPECT_EQ(judged_by(std::array{1.0, infinity, infinity}, 0).predicted, 1);
}

TEST(HardSamples, NothingIsPredictedFromNaN) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const HardSample sample = judged_by(std::array{1.0, nan, infinity}, 2);
    EXPECT_EQ(sample.predicted, -1);
    EXPECT_TRUE(std::isnan(sample.probability));
    EXPECT_TRUE(std::isnan(sample.loss));
}

TEST(HardSamples, ScoresThatDifferLessThanTheirProbabilitiesStillChooseTheirClass) {
    const HardSample sample = judged_by(std::array{0.0, 1e-30}, 1);
    EXPECT_EQ(sample.predicted, 1);
    EXPECT_EQ(sample.probability, 0.5);
    EXPECT_EQ(sample.loss, std::log(2.0) - 1e-30);
}

}  // namespace
}  // namespace engine
