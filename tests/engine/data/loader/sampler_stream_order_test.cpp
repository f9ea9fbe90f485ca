#include "data/loader/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StreamOrder, CutsStreamsIntoWindows) {
    StreamOrder order(26, 4, 2);  // four streams of 6; the last two tokens are unused
    ASSERT_EQ(order.batches_per_epoch(), 3);
    EXPECT_THAT(order.starts(0), ElementsAre(0, 6, 12, 18));
    EXPECT_THAT(order.starts(1), ElementsAre(2, 8, 14, 20));
    EXPECT_THAT(order.starts(2), ElementsAre(4, 10, 16, 22));
    EXPECT_EQ(order.length(0), 2);
    EXPECT_EQ(order.length(1), 2);
    EXPECT_EQ(order.length(2), 1);
    EXPECT_EQ(order.position(0), 0);
    EXPECT_EQ(order.position(2), 16);
}

/// The batches of PyTorch's word language model example, as a table of tokens: batchify() makes
/// each stream a column, and the loop takes windows of rows up to the last row, which is only a
/// target.
struct Table {
    std::vector<std::vector<std::int64_t>> rows;  // (L, batch_size)

    Table(std::int64_t tokens, std::int64_t batch_size) {
        std::vector<std::int64_t> streams;
        for (std::int64_t t = 0; t < tokens / batch_size * batch_size; ++t) streams.push_back(t);
        rows.resize(streams.size() / static_cast<std::size_t>(batch_size));
        for (std::size_t i = 0; i < streams.size(); ++i)
            rows[i % rows.size()].push_back(streams[i]);
    }
};

TEST(StreamOrder, GivesTheBatchesOfPyTorchsExample) {
    for (const std::int64_t tokens : {2, 7, 20, 99, 100, 101, 253}) {
        for (const std::int64_t batch_size : {1, 3, 10}) {
            for (const std::int64_t window : {1, 2, 5, 35, 1000}) {
                if (tokens / batch_size < 2) continue;
                const Table table(tokens, batch_size);
                StreamOrder order(tokens, batch_size, window);
                std::int64_t batch = 0;
                std::int64_t seen = 0;
                for (std::size_t i = 0; i + 1 < table.rows.size();
                     i += static_cast<std::size_t>(window), ++batch) {
                    const auto length =
                        std::min(static_cast<std::size_t>(window), table.rows.size() - 1 - i);
                    ASSERT_LT(batch, order.batches_per_epoch());
                    EXPECT_EQ(order.length(batch), static_cast<std::int64_t>(length));
                    EXPECT_EQ(order.position(batch), seen);
                    const auto starts = order.starts(batch);
                    EXPECT_TRUE(std::equal(starts.begin(), starts.end(), table.rows[i].begin(),
                                           table.rows[i].end()));
                    // Row k of the batch is row i + k of the table; its targets are row i + k + 1.
                    for (std::size_t k = 0; k <= length; ++k)
                        EXPECT_EQ(table.rows[i + k].back(),
                                  starts.back() + static_cast<std::int64_t>(k));
                    EXPECT_LT(starts.back() + static_cast<std::int64_t>(length), tokens);
                    seen += static_cast<std::int64_t>(length) * batch_size;
                }
                EXPECT_EQ(batch, order.batches_per_epoch());
            }
        }
    }
}

TEST(StreamOrder, CutsWikiText2AsTheExampleDoes) {
    // 2,088,628 tokens in 20 streams of 104,431: ceil(104,430 / 35).
    EXPECT_EQ(StreamOrder(2'088'628, 20, 35).batches_per_epoch(), 2984);
}

TEST(StreamOrder, TakesAWindowOfAnyLength) {
    const StreamOrder order(100, 2, std::int64_t{1} << 62);
    EXPECT_EQ(order.batches_per_epoch(), 1);
    EXPECT_EQ(order.length(0), 49);
}

TEST(StreamOrder, RefusesABatchThatLeavesNothingToPredict) {
    EXPECT_NO_THROW(StreamOrder(6, 3, 5));
    for (const auto& [tokens, batch_size] : {std::pair{5, 3}, {1, 1}, {0, 4}}) {
        try {
            StreamOrder(tokens, batch_size, 5);
            FAIL() << "not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::settings);
            EXPECT_THAT(error.what(), HasSubstr("batch_size: " + std::to_string(batch_size) +
                                                ": the text has " + std::to_string(tokens)));
        }
    }
}

}  // namespace
}  // namespace engine
