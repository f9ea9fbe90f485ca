#include "support/thread_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine/base/error.h"
#include "support/ranks.h"

namespace engine {
namespace {

using test::on_ranks;
using testing::ElementsAre;

class ThreadCommunicator : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ThreadCommunicator, testing::Values(2, 3, 4));

TEST_P(ThreadCommunicator, GivesEveryRankTheSumInTheOrderOfTheRanks) {
    on_ranks(GetParam(), [](const auto& line) {
        // Each sum rounds: 1 + 2^-24 + 2^-24 ... is 1 in this order, and more in any other.
        std::vector<float> values(1001, line->rank() == 0 ? 1.0f : 0x1p-24f);
        values[7] = static_cast<float>(line->rank());
        line->sum({values.data(), DType::f32, 1001});
        EXPECT_EQ(values[7], static_cast<float>(line->size() * (line->size() - 1) / 2));
        values[7] = 1;
        EXPECT_THAT(values, testing::Each(1.0f));
    });
}

TEST_P(ThreadCommunicator, BroadcastsRankZeros) {
    on_ranks(GetParam(), [](const auto& line) {
        std::vector<std::int64_t> values{line->rank() + 5, line->rank() + 6};
        line->broadcast({values.data(), DType::i64, 2});
        EXPECT_THAT(values, ElementsAre(5, 6));
    });
}

TEST_P(ThreadCommunicator, GathersPartsOfUnequalSizes) {
    on_ranks(GetParam(), [](const auto& line) {
        const std::vector<float> mine(static_cast<std::size_t>(line->rank()),
                                      static_cast<float>(line->rank()));
        const auto counts = gather_counts(*line, line->rank());
        const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
        std::vector<float> all(static_cast<std::size_t>(total));
        line->gather({all.data(), DType::f32, total}, {mine.data(), DType::f32, line->rank()},
                     counts);
        std::vector<float> wanted;
        for (int rank = 0; rank < line->size(); ++rank)
            wanted.insert(wanted.end(), static_cast<std::size_t>(rank), static_cast<float>(rank));
        EXPECT_EQ(all, wanted);
    });
}

TEST_P(ThreadCommunicator, KnowsWhetherAnyRankSaysYes) {
    on_ranks(GetParam(), [](const auto& line) {
        EXPECT_FALSE(any(*line, false));
        EXPECT_TRUE(any(*line, line->rank() == line->size() - 1));
    });
}

TEST_P(ThreadCommunicator, LinesDoNotWaitForOneAnother) {
    on_ranks(GetParam(), [](const auto& line) {
        const auto other = line->line();
        double first = 1, second = 10;
        std::thread beside([&] { other->sum({&second, DType::f64, 1}); });
        line->sum({&first, DType::f64, 1});
        beside.join();
        EXPECT_EQ(first, line->size());
        EXPECT_EQ(second, 10 * line->size());
    });
}

TEST_P(ThreadCommunicator, ARankThatGivesUpEndsTheCallsOfAllLines) {
    on_ranks(GetParam(), [](const auto& line) {
        const auto other = line->line();
        if (line->rank() == 1) return line->abort("Rank 1 gave up.");
        try {
            other->barrier();
            ADD_FAILURE() << "returned";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::training);
            EXPECT_EQ(error.message().str(), "Rank 1 gave up.");
        }
        EXPECT_THROW(line->barrier(), Error);
    });
}

TEST_P(ThreadCommunicator, RefusesCallsThatDiffer) {
    on_ranks(GetParam(), [](const auto& line) {
        std::vector<float> values(4);
        EXPECT_THROW(line->sum({values.data(), DType::f32, 3 + (line->rank() == 0)}), Error);
        EXPECT_NO_THROW(line->barrier());
    });
}

}  // namespace
}  // namespace engine
