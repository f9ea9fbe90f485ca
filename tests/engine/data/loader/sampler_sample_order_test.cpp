#include "data/loader/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int64_t> epoch_of(SampleOrder& order, std::int64_t epoch) {
    std::vector<std::int64_t> all;
    for (std::int64_t b = 0; b < order.batches_per_epoch(); ++b) {
        const auto batch = order.batch(epoch, b);
        all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
}

TEST(SampleOrder, ShuffleIsAPermutationThatDiffersByEpochAndSeed) {
    SampleOrder order(1000, {.batch_size = 64, .seed = 3});
    SampleOrder other(1000, {.batch_size = 64, .seed = 4});
    const auto first = epoch_of(order, 0);
    const auto second = epoch_of(order, 1);
    EXPECT_NE(first, second);
    EXPECT_NE(first, epoch_of(other, 0));
    std::vector<std::int64_t> everything(1000);
    std::iota(everything.begin(), everything.end(), 0);
    EXPECT_NE(first, everything);
    EXPECT_TRUE(
        std::is_permutation(first.begin(), first.end(), everything.begin(), everything.end()));
    EXPECT_TRUE(
        std::is_permutation(second.begin(), second.end(), everything.begin(), everything.end()));
}

TEST(SampleOrder, AnEpochDoesNotHangOnTheEpochsAskedForBefore) {
    SampleOrder order(100, {.batch_size = 100, .seed = 3});
    const auto second = epoch_of(order, 1);
    epoch_of(order, 0);
    EXPECT_EQ(epoch_of(order, 1), second);
}

TEST(SampleOrder, ShufflePutsEverySampleAtEveryPlaceEquallyOften) {
    SampleOrder order(6, {.batch_size = 6});
    int counts[6][6] = {};
    for (std::int64_t epoch = 0; epoch < 6000; ++epoch) {
        const auto samples = order.batch(epoch, 0);
        for (std::size_t place = 0; place < 6; ++place) ++counts[place][samples[place]];
    }
    // 1000 are expected, with a standard deviation of sqrt(6000 * 1/6 * 5/6) = 28.9. Allows six of
    // them.
    for (const auto& place : counts) {
        for (const int count : place) EXPECT_NEAR(count, 1000, 173);
    }
}

TEST(SampleOrder, DeliversThePartialLastBatchUnlessToldToDropIt) {
    SampleOrder whole(10, {.batch_size = 4, .shuffle = false});
    EXPECT_EQ(whole.batches_per_epoch(), 3);
    EXPECT_THAT(whole.batch(0, 2), ElementsAre(8, 9));
    SampleOrder full(10, {.batch_size = 4, .shuffle = false, .drop_last = true});
    EXPECT_EQ(full.batches_per_epoch(), 2);
}

TEST(SampleOrder, RefusesSettingsThatGiveNoBatch) {
    EXPECT_THROW(SampleOrder(3, {.batch_size = 4, .drop_last = true}), Error);
    EXPECT_THROW(SampleOrder(0, {.batch_size = 4}), Error);
}

TEST(SampleOrderFile, GivesTheBatchesOfItsLines) {
    const test_support::TempFolder folder;
    auto order = SampleOrder::from_file(10, folder.write("order", "3 1 4\n1,5\r\n9\t2 6 5\n\n"));
    EXPECT_EQ(order.batches_per_epoch(), 3);
    for (const std::int64_t epoch : {0, 1}) {
        EXPECT_THAT(order.batch(epoch, 0), ElementsAre(3, 1, 4));
        EXPECT_THAT(order.batch(epoch, 1), ElementsAre(1, 5));
        EXPECT_THAT(order.batch(epoch, 2), ElementsAre(9, 2, 6, 5));
    }
}

struct BadOrder {
    const char* name;
    const char* text;
    const char* sentence;
};

class BadOrderFile : public ::testing::TestWithParam<BadOrder> {};

TEST_P(BadOrderFile, IsRefusedByItsLine) {
    const test_support::TempFolder folder;
    const auto file = folder.write("order", GetParam().text);
    try {
        SampleOrder::from_file(10, file);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_EQ(std::string(error.what()), file + GetParam().sentence);
        EXPECT_THAT(error.hint().str(), HasSubstr("one batch a line"));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Order, BadOrderFile,
    ::testing::Values(BadOrder{"Word", "1 2\n3 four\n", ", line 2: \"four\" is not a whole number"},
                      BadOrder{"Fraction", "1 2.5\n", ", line 1: \"2.5\" is not a whole number"},
                      BadOrder{"Beyond", "0 9\n10\n", ", line 2: sample 10 is outside 0 to 9"},
                      BadOrder{"Negative", "-1\n", ", line 1: sample -1 is outside 0 to 9"},
                      BadOrder{"Overflow", "1\n99999999999999999999\n",
                               ", line 2: \"99999999999999999999\" is not a whole number"},
                      BadOrder{"Hole", "1\n\n2\n", ", line 2: a batch without samples"},
                      BadOrder{"Empty", "", ": no sample index in it"}),
    [](const auto& order) { return std::string(order.param.name); });

TEST(SampleOrderFile, RefusesAMissingFileAndAFolder) {
    const test_support::TempFolder folder;
    EXPECT_THROW(SampleOrder::from_file(10, (folder / "absent").string()), Error);
    EXPECT_THROW(SampleOrder::from_file(10, folder.str()), Error);
}

TEST(SampleOrder, AShortLastBatchJoinsTheOneBefore) {
    const auto sizes = [](std::int64_t samples, std::int64_t least) {
        SampleOrder order(samples, {.batch_size = 4, .seed = 3});
        order.join_short_last(least);
        std::vector<std::size_t> out;
        for (std::int64_t b = 0; b < order.batches_per_epoch(); ++b)
            out.push_back(order.batch(1, b).size());
        return out;
    };
    using Sizes = std::vector<std::size_t>;
    EXPECT_EQ(sizes(9, 2), (Sizes{4, 5}));
    EXPECT_EQ(sizes(9, 1), (Sizes{4, 4, 1}));
    EXPECT_EQ(sizes(10, 2), (Sizes{4, 4, 2}));
    EXPECT_EQ(sizes(11, 4), (Sizes{4, 7}));
    EXPECT_EQ(sizes(8, 4), (Sizes{4, 4}));
    EXPECT_EQ(sizes(1, 2), (Sizes{1})) << "there is none before";
    SampleOrder whole(9, {.batch_size = 4, .seed = 3}), joined(9, {.batch_size = 4, .seed = 3});
    joined.join_short_last(2);
    EXPECT_EQ(epoch_of(joined, 2), epoch_of(whole, 2)) << "the same samples in the same order";
}

}  // namespace
}  // namespace engine
