#include "tensor/batch_share.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(BatchShare, PartsAreContiguousCoverTheBatchAndDifferByOneRowAtMost) {
    for (std::int64_t all = 1; all <= 40; ++all) {
        for (int ranks = 1; ranks <= 7; ++ranks) {
            std::int64_t next = 0, least = all, most = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const BatchShare share = share_of(all, rank, ranks);
                EXPECT_EQ(share.first, next);
                EXPECT_EQ(share.all, all);
                next += share.rows;
                least = std::min(least, share.rows);
                most = std::max(most, share.rows);
            }
            EXPECT_EQ(next, all);
            EXPECT_LE(most - least, 1);
        }
    }
}

TEST(BatchShare, CountsNumbersOfTheWholeBatch) {
    const BatchShare share = share_of(7, 1, 3);  // rows 3 and 4
    EXPECT_EQ(share.of_all(20), 70);
    EXPECT_EQ(share.before(20), 30);
    EXPECT_EQ(BatchShare{}.of_all(20), 20);
    EXPECT_EQ(BatchShare{}.before(20), 0);
}

TEST(BatchShare, ARankWithoutRowsComputesOne) {
    const BatchShare share = share_of(2, 3, 4);
    EXPECT_TRUE(share.idle());
    EXPECT_EQ(share.computed(), 1);
    EXPECT_EQ(share.of_all(20), 40);
    EXPECT_FALSE(share_of(2, 1, 4).idle());
}

}  // namespace
}  // namespace engine
