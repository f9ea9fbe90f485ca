#include "tensor/free_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "tensor/tensor.h"

namespace engine {
namespace {

struct Counted {
    explicit Counted(int& alive) : alive_(alive) { ++alive_; }
    ~Counted() { --alive_; }
    int& alive_;
    char more[100];
};

TEST(FreeListAllocator, DestroysEveryObjectAndGivesEachLivingOneItsOwnMemory) {
    int alive = 0;
    for (int round = 0; round < 3; ++round) {
        std::vector<std::shared_ptr<Counted>> all;
        std::set<const void*> places;
        for (int i = 0; i < 1000; ++i) {  // more than a list holds
            all.push_back(std::allocate_shared<Counted>(FreeListAllocator<Counted>(), alive));
            places.insert(all.back().get());
        }
        EXPECT_EQ(alive, 1000);
        EXPECT_EQ(places.size(), 1000u);
        all.clear();
        EXPECT_EQ(alive, 0);
    }
}

TEST(FreeListAllocator, TakesEverySize) {
    for (std::size_t n = 1; n < 3000; n += 7) {
        std::vector<char, FreeListAllocator<char>> one(n, 'a'), two(n, 'b');
        EXPECT_EQ(one, (std::vector<char, FreeListAllocator<char>>(n, 'a')));
        EXPECT_EQ(two.back(), 'b');
    }
}

/// Address and thread sanitizers are to see every block, so nothing is kept under them.
TEST(FreeListAllocator, GivesAFreedBlockToTheNextOfItsSize) {
#ifdef HALFTONE_SANITIZED
    GTEST_SKIP() << "nothing is kept under a sanitizer";
#else
    FreeListAllocator<std::int64_t> from;
    std::int64_t* const first = from.allocate(20);
    from.deallocate(first, 20);
    std::int64_t* const again = from.allocate(18);
    EXPECT_EQ(again, first) << "both take three units";
    from.deallocate(again, 18);
#endif
}

TEST(FreeListAllocator, ABlockMayBeFreedOnAnotherThreadAlsoAtThatThreadsEnd) {
    int alive = 0;
    auto made = std::allocate_shared<Counted>(FreeListAllocator<Counted>(), alive);
    std::shared_ptr<Counted> kept;
    std::thread([&, mine = std::move(made)]() mutable {
        kept = std::allocate_shared<Counted>(FreeListAllocator<Counted>(), alive);
        mine.reset();
    }).join();
    EXPECT_EQ(alive, 1) << "what the thread made outlives it";
    kept.reset();
    EXPECT_EQ(alive, 0);
    std::weak_ptr<TensorImpl> last_impl;
    std::thread([&last_impl] {
        // Destroyed after this thread's lists, which are opened later.
        thread_local Tensor last;
        last = Tensor::zeros({4}, DType::f32);
        last_impl = last.impl();
    }).join();
    EXPECT_TRUE(last_impl.expired());
}

}  // namespace
}  // namespace engine
