#include "tensor/memory/reclaimable_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "support/mebibyte.h"

namespace engine {
namespace {

using testing::ElementsAre;

/// A block that can be done without.
struct Spare {
    explicit Spare(std::size_t bytes) : block(std::make_unique<Block>(bytes, Device{})) {}
    bool is_here() const { return block != nullptr; }

    std::unique_ptr<Block> block;
    ReclaimableCache giver{Device{}, [this] { return std::exchange(block, nullptr) != nullptr; }};
};

/// A machine with 4 MiB more than is in use at first.
class MemoryGivers : public testing::Test {
protected:
    MemoryGivers() {
        release_cached_memory();
        before_ = set_memory_limit(memory_in_use() + 4 * mib);
    }
    ~MemoryGivers() override {
        set_memory_limit(before_);
        release_cached_memory();
    }
    std::size_t before_ = 0;
};

TEST_F(MemoryGivers, AreAskedOnlyWhereThereIsNoRoom) {
    Spare spare(2 * mib);
    { const Block fits(2 * mib, {}); }
    EXPECT_TRUE(spare.is_here());
    const Block wanted(3 * mib, {});
    EXPECT_FALSE(spare.is_here());
}

TEST_F(MemoryGivers, AreAskedOneAfterTheOtherUntilThereIsEnough) {
    Spare first(mib), second(mib), third(mib);
    {
        const Block wanted(3 * mib, {});
        EXPECT_FALSE(first.is_here());
        EXPECT_FALSE(second.is_here());
        EXPECT_TRUE(third.is_here());
    }
    const Block whole(4 * mib, {});
    EXPECT_FALSE(third.is_here());
}

TEST_F(MemoryGivers, DoNotMakeRoomThatTheDeviceHasNot) {
    const Block held(mib, {});
    Spare spare(2 * mib);
    EXPECT_THROW(Block(4 * mib, {}), Error);
    EXPECT_FALSE(spare.is_here());
    EXPECT_EQ(memory_in_use(), mib);
    const Block rest(3 * mib, {});
}

TEST_F(MemoryGivers, AreNotAskedForWhatCanNeverFit) {
    Spare spare(2 * mib);
    EXPECT_THROW(Block(5 * mib, {}), Error);
    EXPECT_TRUE(spare.is_here());
}

TEST_F(MemoryGivers, ThatAreGoneOrOfAnotherDeviceAreNotAsked) {
    const Block held(mib, {});
    bool asked = false;
    const auto note = [&] { return asked = true; };
    std::optional<ReclaimableCache> gone(std::in_place, Device{}, note);
    const ReclaimableCache elsewhere(Device{Device::Kind::cuda, 0}, note);
    gone.reset();
    EXPECT_THROW(Block(4 * mib, {}), Error);
    EXPECT_FALSE(asked);
}

TEST_F(MemoryGivers, MakeRoomWithinTheLimitOfTheirOwnRun) {
    const auto run = std::make_shared<MemoryAccounting>();
    Spare of_nobody(mib);
    const AccountingScope scope(run);
    Spare own(mib);
    run->set_limit(static_cast<std::int64_t>(2 * mib));
    {
        const Block wanted(2 * mib, {});
        EXPECT_FALSE(own.is_here());
        EXPECT_TRUE(of_nobody.is_here()) << "it would make no room in these accounts";
        EXPECT_EQ(run->total(), static_cast<std::int64_t>(2 * mib));
    }
    EXPECT_THROW(Block(3 * mib, {}), Error);
    EXPECT_TRUE(of_nobody.is_here());
}

TEST_F(MemoryGivers, OfTheRunItselfAreAskedFirst) {
    Spare of_nobody(2 * mib);
    const AccountingScope scope(std::make_shared<MemoryAccounting>());
    Spare own(2 * mib);
    {
        const Block wanted(2 * mib, {});
        EXPECT_FALSE(own.is_here());
        EXPECT_TRUE(of_nobody.is_here());
    }
    const Block whole(4 * mib, {});
    EXPECT_FALSE(of_nobody.is_here());
}

TEST_F(MemoryGivers, AreNotAskedForTheirOwnAnswer) {
    const Block held(mib, {});
    std::vector<std::string> answers;
    const ReclaimableCache giver(Device{}, [&] {
        try {
            const Block needed(4 * mib, {});
        } catch (const Error&) {
            answers.emplace_back("nothing");
        }
        return false;
    });
    EXPECT_THROW(Block(4 * mib, {}), Error);
    EXPECT_THAT(answers, ElementsAre("nothing"));
}

// The spare block belongs to the test's thread, and another one wants memory.
TEST_F(MemoryGivers, OfOneThreadAreLeftAloneByAnother) {
    Spare spare(2 * mib);
    std::thread([&] {
        EXPECT_THROW(Block(3 * mib, {}), Error);
        EXPECT_TRUE(spare.is_here());
        spare.giver.claim();
        const Block wanted(3 * mib, {});
        EXPECT_FALSE(spare.is_here());
    }).join();
}

// The second thread takes the giver over, then destroys it, each while the first is asking it.
TEST_F(MemoryGivers, AreWaitedForByWhoeverTakesThemOverOrEndsThem) {
    const Block held(mib, {});
    for (const bool ends : {false, true}) {
        std::atomic<bool> is_asked{false}, has_answered{false};
        std::optional<ReclaimableCache> giver;
        std::thread asking([&] {
            giver.emplace(Device{}, [&] {
                is_asked = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                has_answered = true;
                return false;
            });
            EXPECT_THROW(Block(4 * mib, {}), Error);
        });
        while (!is_asked) std::this_thread::yield();
        ends ? giver.reset() : giver->claim();
        EXPECT_TRUE(has_answered);
        asking.join();
    }
}

// Two threads with a run each, whose limit leaves room for what it wants without its spare block.
TEST_F(MemoryGivers, OfSeveralThreadsEachServeTheirOwn) {
    set_memory_limit(before_);
    const auto work = [] {
        const auto run = std::make_shared<MemoryAccounting>();
        run->set_limit(static_cast<std::int64_t>(3 * mib));
        const AccountingScope scope(run);
        for (int i = 0; i < 200; ++i) {
            Spare spare(2 * mib);
            const Block wanted(3 * mib, {});
            ASSERT_FALSE(spare.is_here());
        }
    };
    std::thread one(work), other(work);
    one.join();
    other.join();
    EXPECT_EQ(memory_in_use(), 0U);
}

}  // namespace
}  // namespace engine
