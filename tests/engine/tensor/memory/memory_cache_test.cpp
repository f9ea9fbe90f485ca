#include "tensor/memory/memory_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/base/error.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "simt/device.h"
#include "simt/queue.h"
#include "support/mebibyte.h"
#include "support/patience.h"
#include "tensor/memory/memory.h"
#include "tensor/memory/reclaimable_cache.h"

// Several threads allocate memory of one GPU, which frees blocks only when its work is done.
namespace engine {
namespace {

const Device gpu{Device::Kind::cuda, 0};
/// Work of the GPU that runs until it is stopped, at most patience_s.
class LongWork {
public:
    LongWork() {
        kernels::simt::enqueue("long work", {}, [this] {
            std::unique_lock lock(mutex_);
            runs_ = true;
            changed_.notify_all();
            in_time_ = changed_.wait_for(lock, std::chrono::seconds(test::patience_s),
                                         [&] { return ends_; });
        });
    }
    void wait_until_it_runs() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return runs_; });
    }
    void end() {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        changed_.notify_all();
    }
    /// True if the work was stopped before its limit.
    bool in_time() {
        const std::lock_guard lock(mutex_);
        return in_time_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool runs_ = false, ends_ = false, in_time_ = false;
};

class MemoryCacheThreads : public testing::Test {
protected:
    MemoryCacheThreads() { release_cached_memory(); }
    ~MemoryCacheThreads() override {
        release_cached_memory();
        EXPECT_EQ(kernels::simt::device_bytes(), 0);
    }
};

TEST_F(MemoryCacheThreads, BlocksCanBeHadWhileOthersGoBack) {
    auto held = std::make_unique<Block>(mib, gpu);
    { const Block kept(2 * mib, gpu); }
    LongWork work;
    std::size_t released = 0;
    std::thread releasing([&] { released = release_cached_memory(); });
    work.wait_until_it_runs();
    EXPECT_EQ(memory_in_use(gpu), mib) << "what goes back is nobody's";
    held.reset();
    { const Block again(mib, gpu); }
    EXPECT_EQ(memory_in_use(gpu), 0u);
    work.end();
    releasing.join();
    EXPECT_TRUE(work.in_time()) << "the lock was held until the GPU was done";
    EXPECT_EQ(released, 2 * mib);
    EXPECT_EQ(memory_in_use(gpu), 0u);
}

TEST_F(MemoryCacheThreads, WhoNeedsWhatIsGoingBackWaitsForIt) {
    { const Block kept(2 * mib, gpu); }
    const std::size_t before = set_memory_limit(3 * mib, gpu);
    LongWork work;
    std::thread releasing([&] { release_cached_memory(); });
    work.wait_until_it_runs();
    std::unique_ptr<Block> wanted;
    std::thread wanting([&] { EXPECT_NO_THROW(wanted = std::make_unique<Block>(3 * mib, gpu)); });
    // The thread is most probably waiting for memory after this.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    work.end();
    wanting.join();
    releasing.join();
    EXPECT_TRUE(work.in_time());
    EXPECT_EQ(memory_in_use(gpu), wanted ? 3 * mib : 0);
    wanted.reset();
    set_memory_limit(before, gpu);
}

// CUDA synchronises the device before it frees memory, which would invalidate a capture.
TEST_F(MemoryCacheThreads, NothingGoesBackWhileAStepIsRecordedThere) {
    { const Block kept(2 * mib, gpu); }
    const std::size_t before = set_memory_limit(3 * mib, gpu);
    const auto waits = [] { return kernels::cuda::call_counts().synchronizations; };
    kernels::cuda::begin_capture({});
    const std::int64_t at_first = waits();
    EXPECT_THROW(Block(3 * mib, gpu), Error) << "what is kept would have to go for it";
    EXPECT_EQ(release_cached_memory(), 0u) << "from any thread";
    EXPECT_EQ(waits(), at_first);
    kernels::cuda::abandon_capture({});
    EXPECT_NO_THROW(Block(3 * mib, gpu));
    EXPECT_GT(waits(), at_first);
    set_memory_limit(before, gpu);
}

TEST_F(MemoryCacheThreads, NobodyIsAskedForMemoryWhileAStepIsRecordedThere) {
    auto spare = std::make_unique<Block>(2 * mib, gpu);
    const ReclaimableCache giver(gpu, [&] { return std::exchange(spare, nullptr) != nullptr; });
    const std::size_t before = set_memory_limit(3 * mib, gpu);
    const auto waits = [] { return kernels::cuda::call_counts().synchronizations; };
    kernels::cuda::begin_capture({});
    const std::int64_t at_first = waits();
    EXPECT_THROW(Block(3 * mib, gpu), Error);
    kernels::cuda::abandon_capture({});
    EXPECT_EQ(waits(), at_first);
    EXPECT_TRUE(spare);
    EXPECT_NO_THROW(Block(3 * mib, gpu));
    EXPECT_FALSE(spare);
    set_memory_limit(before, gpu);
}

// A giver's work is still under way when its memory is wanted: who gets it waits for that work.
TEST_F(MemoryCacheThreads, WhatIsGivenBackIsWaitedFor) {
    auto spare = std::make_unique<Block>(2 * mib, gpu);
    const ReclaimableCache giver(gpu, [&] { return std::exchange(spare, nullptr) != nullptr; });
    const std::size_t before = set_memory_limit(3 * mib, gpu);
    bool has_run = false;
    kernels::simt::enqueue("work", {}, [&] { has_run = true; });
    const Block wanted(3 * mib, gpu);
    EXPECT_TRUE(has_run);
    EXPECT_FALSE(spare);
    set_memory_limit(before, gpu);
}

TEST_F(MemoryCacheThreads, WhatIsKeptOfAnotherDeviceGoesBackMeanwhile) {
    { const Block kept(2 * mib, {Device::Kind::cuda, 1}); }
    kernels::cuda::begin_capture({});
    EXPECT_EQ(release_cached_memory(), 2 * mib);
    kernels::cuda::abandon_capture({});
}

}  // namespace
}  // namespace engine
