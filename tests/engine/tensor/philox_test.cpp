#include "tensor/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace engine {
namespace {

// The known-answer vectors of Random123 for philox4x32 with 10 rounds.
TEST(Philox, GivesTheKnownAnswers) {
    EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
              (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
              (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(
        philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
        (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, TakesItsWordsFromTheBlockThatItsHeaderNames) {
    const std::int64_t seed = 0x123456789abcdef0;
    const RandomStream stream(seed, StreamId::augment, 77);
    const std::uint64_t offset = (std::uint64_t{5} << 34) + 6;  // block 5 * 2^32 + 1, lane 2
    const PhiloxBlock block = philox4x32({1, 5, 77, 2}, {0x9abcdef0, 0x12345678});
    EXPECT_EQ(stream.at(offset), block[2]);
}

TEST(RandomStream, DiffersBySeedStreamAndSubstream) {
    std::set<std::uint32_t> words;
    for (const std::int64_t seed : {0, 1, -1}) {
        for (const auto id : {StreamId::init, StreamId::shuffle, StreamId::dropout}) {
            for (const std::uint32_t substream : {0U, 1U}) {
                words.insert(RandomStream(seed, id, substream).at(0));
            }
        }
    }
    EXPECT_EQ(words.size(), 18U);
}

TEST(RandomStream, UniformStaysBelowOneAtTheLargestWord) {
    EXPECT_EQ(RandomStream::to_uniform(0), 0.0F);
    EXPECT_EQ(RandomStream::to_uniform(0xffffffff), 1 - 0x1p-24F);
}

TEST(RandomStream, BoundedReachesBothEndsAndNothingBeyond) {
    EXPECT_EQ(RandomStream::to_bounded(0, 9), 0U);
    EXPECT_EQ(RandomStream::to_bounded(0xffffffff, 9), 8U);
    const RandomStream stream(1, StreamId::bench);
    std::vector<int> counts(9);
    for (std::uint64_t i = 0; i < 9000; ++i) ++counts[stream.bounded(i, 9)];
    // 1000 are expected, with a standard deviation of sqrt(9000 * 1/9 * 8/9) = 29.8. Allows six of
    // them.
    for (const int count : counts) EXPECT_NEAR(count, 1000, 179);
}

TEST(RandomStream, NormalHasTheMomentsOfANormal) {
    const RandomStream stream(3, StreamId::init);
    constexpr int count = 40000;
    double sum = 0, square = 0, fourth = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const double x = stream.normal(i);
        sum += x;
        square += x * x;
        fourth += x * x * x * x;
    }
    // Standard deviations of the means: 1 / sqrt(n), sqrt(2 / n), sqrt(96 / n). Allows five of
    // each.
    EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
    EXPECT_NEAR(square / count, 1, 5 * std::sqrt(2.0 / count));
    EXPECT_NEAR(fourth / count, 3, 5 * std::sqrt(96.0 / count));
}

TEST(RandomStream, NormalIsFiniteAtTheExtremeWords) {
    EXPECT_DOUBLE_EQ(RandomStream::to_normals(0, 0)[0], std::sqrt(64 * std::log(2.0)));
    EXPECT_EQ(RandomStream::to_normals(0xffffffff, 0)[0], 0.0F);
}

TEST(RandomStream, NormalsComeInPairsOfCosineAndSine) {
    const RandomStream stream(3, StreamId::init);
    const auto pair = RandomStream::to_normals(stream.at(6), stream.at(7));
    EXPECT_EQ(stream.normal(6), static_cast<float>(pair[0]));
    EXPECT_EQ(stream.normal(7), static_cast<float>(pair[1]));
}

}  // namespace
}  // namespace engine
