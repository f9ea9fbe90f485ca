#include "tensor/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "support/mebibyte.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kib = 1024;
/// New accounting for the calling thread.
struct Accounting {
    std::shared_ptr<MemoryAccounting> accounting = std::make_shared<MemoryAccounting>();
    AccountingScope scope{accounting};
};

TEST(MemoryAccounting, AccountABlockUnderItsUseWhileItLives) {
    const Accounting here;
    {
        const UseScope use(MemoryUse::optimizer);
        const Block block(4 * kib, {});
        EXPECT_EQ(here.accounting->bytes(MemoryUse::optimizer), 4 * kib);
        EXPECT_EQ(here.accounting->total(), 4 * kib);
    }
    EXPECT_EQ(here.accounting->bytes(MemoryUse::optimizer), 0);
    EXPECT_EQ(here.accounting->total(), 0);
    EXPECT_EQ(here.accounting->peak(), 4 * kib);
}

TEST(MemoryAccounting, TakeActivationsForGrantedAndScopesNest) {
    const Accounting here;
    const Block first(kib, {});
    {
        const UseScope outer(MemoryUse::weights);
        const Block second(kib, {});
        {
            const UseScope inner(MemoryUse::gradients);
            const Block third(kib, {});
            EXPECT_EQ(here.accounting->bytes(MemoryUse::gradients), kib);
        }
        const Block fourth(kib, {});
        EXPECT_EQ(here.accounting->bytes(MemoryUse::weights), 2 * kib);
    }
    const Block fifth(kib, {});
    EXPECT_EQ(here.accounting->bytes(MemoryUse::activations), 2 * kib);
}

TEST(MemoryAccounting, OfTwoRunsAreApart) {
    const Accounting outer;
    const auto other = std::make_shared<MemoryAccounting>();
    const Block mine(kib, {});
    {
        const AccountingScope scope(other);
        const Block theirs(2 * kib, {});
        EXPECT_EQ(other->total(), 2 * kib);
    }
    EXPECT_EQ(other->total(), 0);
    EXPECT_EQ(outer.accounting->total(), kib);
    EXPECT_EQ(outer.accounting->peak(), kib);
}

TEST(MemoryAccounting, StillHoldABlockThatOutlivesItsScope) {
    const auto accounting = std::make_shared<MemoryAccounting>();
    std::unique_ptr<Block> block;
    {
        const AccountingScope scope(accounting);
        block = std::make_unique<Block>(kib, Device{});
    }
    const Accounting elsewhere;
    EXPECT_EQ(accounting->total(), kib);
    std::thread([&] { block.reset(); }).join();
    EXPECT_EQ(accounting->total(), 0);
    EXPECT_EQ(elsewhere.accounting->peak(), 0);
}

TEST(MemoryAccounting, KeepTheHighestTotalAsPeak) {
    const Accounting here;
    auto big = std::make_unique<Block>(64 * kib, Device{});
    { const Block small(4 * kib, {}); }
    big.reset();
    const Block later(8 * kib, {});
    EXPECT_EQ(here.accounting->peak(), 68 * kib);
    EXPECT_EQ(here.accounting->total(), 8 * kib);
}

TEST(MemoryAccounting, MoveABlockToAnotherUseWithoutTouchingTheTotal) {
    const Accounting here;
    {
        Block block(kib, {});
        block.account_as(MemoryUse::gradients);
        block.account_as(MemoryUse::gradients);
        EXPECT_EQ(here.accounting->bytes(MemoryUse::gradients), kib);
        EXPECT_EQ(here.accounting->bytes(MemoryUse::activations), 0);
        EXPECT_EQ(here.accounting->total(), kib);
        EXPECT_EQ(here.accounting->peak(), kib);
    }
    EXPECT_EQ(here.accounting->bytes(MemoryUse::gradients), 0);
}

TEST(MemoryAccounting, BalanceWhenSeveralThreadsAccount) {
    const auto accounting = std::make_shared<MemoryAccounting>();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&accounting, t] {
            const AccountingScope scope(accounting);
            const UseScope use(static_cast<MemoryUse>(t));
            for (int i = 0; i < 500; ++i) {
                const Block block(static_cast<std::size_t>(kib * (1 + i % 3)), {});
                std::memset(block.data(), t, block.bytes());
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(accounting->total(), 0);
    for (int i = 0; i < memory_uses; ++i)
        EXPECT_EQ(accounting->bytes(static_cast<MemoryUse>(i)), 0);
    EXPECT_GE(accounting->peak(), 3 * kib);
    EXPECT_LE(accounting->peak(), 4 * 3 * kib);
}

TEST(MemoryAccounting, CountATensorAndItsViewsOnce) {
    const Accounting here;
    const Tensor t = Tensor::zeros({256}, DType::f32);
    const Tensor view = t.detach();
    EXPECT_EQ(here.accounting->total(), kib);
}

TEST(MemoryAccounting, NameEveryUse) {
    std::vector<std::string> names;
    for (int i = 0; i < memory_uses; ++i) names.emplace_back(name(static_cast<MemoryUse>(i)));
    EXPECT_THAT(names, testing::ElementsAre("weights", "masters", "gradients", "optimizer",
                                            "activations", "codes", "cast cache", "workspace"));
}

TEST(Block, IsAlignedAndAtLeastAsLargeAsAskedFor) {
    for (const std::size_t bytes : {0, 1, 63, 64, 65, 255, 257, 1000, 100000, 5000000}) {
        const Block block(bytes, {});
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u) << bytes;
        EXPECT_EQ(block.bytes(), bytes);
        std::memset(block.data(), 1, bytes);
    }
}

TEST(Block, ReusesFreedMemoryUntilItIsGivenBack) {
    release_cached_memory();
    const void* before = nullptr;
    {
        const Block block(123456, {});
        before = block.data();
    }
    {
        const Block block(123400, {});  // of the same class
        EXPECT_EQ(block.data(), before);
    }
    EXPECT_GE(release_cached_memory(), 123456u);
    EXPECT_EQ(release_cached_memory(), 0u);
}

TEST(Block, OfTheHostTakesTheMemoryOfOtherSizes) {
    release_cached_memory();
    {
        const Block first(mib, {}), second(mib, {});
        EXPECT_EQ(memory_in_use(), 2 * mib);
    }
    EXPECT_EQ(memory_in_use(), 0u);
    {
        const std::size_t limit = set_memory_limit(2 * mib);
        const Block both(2 * mib - 4 * kib, {});
        set_memory_limit(limit);
        EXPECT_EQ(memory_in_use(), 2 * mib - 4 * kib);
    }
    EXPECT_EQ(release_cached_memory(), 2 * mib) << "nothing was taken beside the two";
}

TEST(Block, OfTheHostIsRoundedToPagesWhereItIsLarge) {
    const Accounting here;
    const Block large(5 * mib + 1, {});
    EXPECT_EQ(here.accounting->total(), static_cast<std::int64_t>(5 * mib) + 4 * kib);
}

TEST(Block, OfTheHostCanBeWrittenAgainOnceItWasGivenBack) {
    for (const int value : {1, 2}) {
        const Block block(3 * mib, {});
        std::memset(block.data(), value, block.bytes());
        release_cached_memory();
        EXPECT_EQ(static_cast<const char*>(block.data())[block.bytes() - 1], value)
            << "what is in use stays";
    }
}

/// The error of an allocation that is far too large, with some memory in use.
TEST(Block, OutOfMemoryNamesTheSplitAndWhatToDo) {
    const Accounting here;
    const UseScope use(MemoryUse::weights);
    const Block held(std::size_t{3} << 20, {});
    for (const std::size_t bytes : {std::size_t{1} << 50, std::numeric_limits<std::size_t>::max(),
                                    std::numeric_limits<std::size_t>::max() - 100}) {
        try {
            const Block block(bytes, {});
            FAIL() << "no machine has that much";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::memory);
            EXPECT_THAT(error.what(), HasSubstr(std::to_string(bytes >> 20) + " MiB"));
            EXPECT_THAT(error.what(), HasSubstr("weights 3 MiB"));
            EXPECT_THAT(error.hint().str(), HasSubstr("smaller batch"));
        }
        EXPECT_EQ(here.accounting->total(), 3 << 20) << "a refused block is not accounted";
    }
}

TEST(Block, WhatDoesNotFitBesideTheOthersIsRefused) {
    release_cached_memory();
    const Block before(kib, {});
    const std::size_t limit = set_memory_limit(3 * mib);
    {
        const Block one(mib, {}), two(mib, {});
        EXPECT_THROW(Block(mib, {}), Error) << "a part of it is taken by the first";
    }
    const Block again(2 * mib + 1, {});  // it fits again once the cached memory is freed
    set_memory_limit(limit);
    const Block beyond(4 * mib, {});
}

TEST(Block, OutOfMemoryLeavesTheThreadAbleToGoOn) {
    EXPECT_THROW(Block(std::size_t{1} << 50, {}), Error);
    const Block block(kib, {});
    std::memset(block.data(), 0, block.bytes());
}

TEST(Block, OfADeviceThatIsNotThereIsRefused) {
    try {
        const Block block(kib, {Device::Kind::cuda, 1});
        FAIL() << "this build has no CUDA";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device);
        EXPECT_THAT(error.what(), HasSubstr("cuda:1"));
    }
}

}  // namespace
}  // namespace engine
