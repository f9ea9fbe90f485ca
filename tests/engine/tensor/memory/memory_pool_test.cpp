#include "tensor/memory/memory_pool.h"
#include "support/mebibyte.h"

#include <gtest/gtest.h>

#include <memory>

namespace engine {
namespace {

std::unique_ptr<Block> block_of(const std::shared_ptr<MemoryPool>& pool, std::size_t bytes) {
    const PoolScope within(pool);
    return std::make_unique<Block>(bytes, Device{});
}

/// A pool, with the accounts of a run, in which one block of a MiB is free.
class LentMemory : public testing::Test {
protected:
    LentMemory() {
        release_cached_memory();
        free_ = block_of(lender_, mib)->data();
    }
    ~LentMemory() override {
        lender_.reset();
        EXPECT_EQ(memory_in_use(), 0U);
        EXPECT_EQ(accounting_->total(), 0);
        release_cached_memory();
    }
    std::shared_ptr<MemoryPool> borrower() {
        return std::make_shared<MemoryPool>(Device{}, lender_);
    }

    std::shared_ptr<MemoryAccounting> accounting_ = std::make_shared<MemoryAccounting>();
    AccountingScope scope_{accounting_};
    std::shared_ptr<MemoryPool> lender_ = std::make_shared<MemoryPool>(Device{});
    const void* free_ = nullptr;
};

TEST_F(LentMemory, IsTakenBeforeNewAndReturnedAtTheEnd) {
    const std::size_t before = memory_in_use();
    const std::int64_t total = accounting_->total();
    auto pool = borrower();
    auto lent = block_of(pool, mib), own = block_of(pool, mib);
    EXPECT_EQ(lent->data(), free_);
    EXPECT_NE(own->data(), free_);
    EXPECT_EQ(memory_in_use(), before + mib) << "one of them is new";
    EXPECT_EQ(accounting_->total(), total + static_cast<std::int64_t>(mib));
    EXPECT_EQ(accounting_->bytes(MemoryUse::workspace), 0) << "nothing is free";
    lent.reset();
    own.reset();
    EXPECT_EQ(accounting_->bytes(MemoryUse::workspace), static_cast<std::int64_t>(2 * mib));
    pool.reset();
    EXPECT_EQ(memory_in_use(), before) << "only what was new has gone back";
    EXPECT_EQ(accounting_->total(), total);
    EXPECT_EQ(block_of(lender_, mib)->data(), free_);
}

TEST_F(LentMemory, IsReusedByItsBorrowerAndNotByItsLender) {
    const auto pool = borrower();
    EXPECT_EQ(block_of(pool, mib)->data(), free_);
    EXPECT_EQ(block_of(pool, mib)->data(), free_) << "what was freed comes first";
    EXPECT_NE(block_of(lender_, mib)->data(), free_) << "a graph may write there";
}

TEST_F(LentMemory, ReturnsWithTheLastBlockOfItsBorrower) {
    auto pool = borrower();
    auto lent = block_of(pool, mib), own = block_of(pool, 2 * mib);
    pool.reset();
    lent.reset();
    EXPECT_NE(block_of(lender_, mib)->data(), free_) << "the borrower has a block yet";
    own.reset();
    EXPECT_EQ(block_of(lender_, mib)->data(), free_);
}

TEST_F(LentMemory, OfAnotherSizeIsLeftAlone) {
    const auto pool = borrower();
    const auto other = block_of(pool, 2 * mib);
    EXPECT_EQ(block_of(lender_, mib)->data(), free_);
}

TEST_F(LentMemory, OutlivesItsLendersOtherOwners) {
    auto pool = borrower();
    const auto lent = block_of(pool, mib);
    lender_.reset();
    pool.reset();
    EXPECT_EQ(lent->data(), free_);
    EXPECT_EQ(memory_in_use(), mib);
}

}  // namespace
}  // namespace engine
