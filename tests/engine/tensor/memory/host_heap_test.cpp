#include "tensor/memory/host_heap.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/device.h"
#include "kernels/device_error.h"

namespace engine {
namespace {

constexpr std::size_t page = HostHeap::page;

/// A heap, and the memory that it has taken of the system.
struct Heap {
    HostHeap heap;
    std::size_t taken = 0;

    char* get(std::size_t bytes) {
        const HostHeap::Place place = heap.find(bytes);
        taken += place.fresh;
        return static_cast<char*>(heap.take(place));
    }
};

TEST(HostHeap, ABlockOfAnySizeCanLieWhereOthersWere) {
    Heap h;
    char* const a = h.get(3 * page);
    char* const b = h.get(5 * page);
    char* const c = h.get(2 * page);
    EXPECT_EQ(h.taken, 10 * page);
    h.heap.give(a, 3 * page);
    h.heap.give(b, 5 * page);
    EXPECT_EQ(h.get(8 * page), a) << "two neighbours are one place";
    h.heap.give(c, 2 * page);
    EXPECT_EQ(h.taken, 10 * page);
}

TEST(HostHeap, ASmallBlockLeavesTheRestOfItsPlaceToOthers) {
    Heap h;
    char* const a = h.get(8 * page);
    h.heap.give(a, 8 * page);
    EXPECT_EQ(h.get(3 * page), a);
    EXPECT_EQ(h.get(5 * page), a + 3 * page);
    EXPECT_EQ(h.taken, 8 * page);
}

TEST(HostHeap, WhatIsFreeAtTheEndIsCompletedByNewMemory) {
    Heap h;
    char* const a = h.get(4 * page);
    char* const b = h.get(6 * page);
    h.heap.give(b, 6 * page);
    EXPECT_EQ(h.get(7 * page), b);
    EXPECT_EQ(h.taken, 11 * page);
    h.heap.give(a, 4 * page);
    EXPECT_NE(h.get(5 * page), a) << "what is used lies behind it";
    EXPECT_EQ(h.taken, 16 * page);
}

TEST(HostHeap, TheSmallestPlaceIsTaken) {
    Heap h;
    char* const large = h.get(9 * page);
    h.get(page);
    char* const small = h.get(4 * page);
    h.get(page);
    h.heap.give(large, 9 * page);
    h.heap.give(small, 4 * page);
    EXPECT_EQ(h.get(4 * page), small);
    EXPECT_EQ(h.get(9 * page), large);
}

TEST(HostHeap, WhatWasGivenBackIsNewMemoryAgain) {
    Heap h;
    char* const a = h.get(4 * page);
    char* const b = h.get(4 * page);
    std::memset(a, 1, 4 * page);
    std::memset(b, 2, 4 * page);
    h.heap.give(a, 4 * page);
    EXPECT_EQ(h.heap.release(), 4 * page);
    EXPECT_EQ(h.heap.release(), 0u);
    EXPECT_EQ(b[0], 2);
    h.taken = 0;
    EXPECT_EQ(h.get(4 * page), a);
    EXPECT_EQ(h.taken, 4 * page);
    EXPECT_EQ(a[0], 0) << "its memory was the system's meanwhile";
}

TEST(HostHeap, BlocksNeverOverlap) {
    struct Held {
        char* data;
        std::size_t bytes;
        char mark;
    };
    Heap h;
    std::mt19937 random(1);
    std::vector<Held> held;
    for (int i = 0; i < 3000; ++i) {
        if (i % 500 == 499) h.heap.release();
        if (!held.empty() && random() % 2 == 0) {
            std::swap(held[random() % held.size()], held.back());
            const Held last = held.back();
            held.pop_back();
            for (std::size_t at = 0; at < last.bytes; at += page)
                ASSERT_EQ(last.data[at], last.mark) << i;
            h.heap.give(last.data, last.bytes);
            continue;
        }
        const std::size_t bytes = (1 + random() % 40) * page;
        const Held next{h.get(bytes), bytes, static_cast<char>(1 + i % 100)};
        for (std::size_t at = 0; at < bytes; at += page) next.data[at] = next.mark;
        held.push_back(next);
    }
}

TEST(HostHeap, RefusesWhatNoAddressSpaceHolds) {
    Heap h;
    EXPECT_THROW(h.get(std::size_t{1} << 60), kernels::OutOfMemory);
    char* const a = h.get(page);
    a[0] = 1;
}

constexpr std::int64_t heap_mib = std::int64_t{1} << 20;

/// A limit on the process's addresses while it lives; set once more if a test throws.
class AddressLimit {
public:
    /// Leaves 2^46 bytes or less in all; `left()` says how much. The process has none of its own.
    AddressLimit() {
        getrlimit(RLIMIT_AS, &before_);
        possible_ = before_.rlim_cur == RLIM_INFINITY;
        set(rlim_t{1} << 46);
        possible_ = possible_ && left() > 0;  // a thread sanitizer takes more
    }
    ~AddressLimit() { setrlimit(RLIMIT_AS, &before_); }
    AddressLimit(const AddressLimit&) = delete;
    AddressLimit& operator=(const AddressLimit&) = delete;

    bool possible() const { return possible_; }
    static std::int64_t left() { return kernels::cpu::address_space_left(); }
    /// From now on so many bytes are left.
    void leave(std::int64_t bytes) {
        set(limit_ + static_cast<rlim_t>(bytes) - static_cast<rlim_t>(left()));
    }

private:
    void set(rlim_t bytes) {
        if (!possible_) return;
        limit_ = bytes;
        rlimit limited = before_;
        limited.rlim_cur = bytes;
        setrlimit(RLIMIT_AS, &limited);
    }
    rlimit before_{};
    rlim_t limit_ = 0;
    bool possible_ = false;
};

TEST(HostHeap, GivesAddressesBackWhereTheProcessHasALimit) {
    Heap h;
    const AddressLimit limit;
    if (!limit.possible()) GTEST_SKIP() << "this process's addresses cannot be limited";
    const std::int64_t left = AddressLimit::left();
    char* const a = h.get(3 * page);
    char* const b = h.get(5 * page);
    const std::int64_t less = kernels::cpu::address_space_left();
    h.heap.give(a, 3 * page);
    h.heap.release();
    std::memset(b, 1, 5 * page);  // still there
    h.heap.give(b, 5 * page);
    h.heap.release();
    const std::int64_t again = kernels::cpu::address_space_left();
    char* const c = h.get(page);
    std::memset(c, 1, page);
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    EXPECT_GE(left - less, gib) << "reserved at once";
    EXPECT_LT(left - again, gib / 16);
}

bool has_room_for(Heap& h, std::int64_t bytes) {
    try {
        return h.heap.find(static_cast<std::size_t>(bytes)).data != nullptr;
    } catch (const kernels::OutOfMemory&) {
        return false;
    }
}

TEST(HostHeap, LeavesAddressesToLibrariesWhereTheProcessHasALimit) {
    AddressLimit limit;
    if (!limit.possible()) GTEST_SKIP() << "this process's addresses cannot be limited";
    limit.leave(512 * heap_mib);
    Heap h;
    EXPECT_FALSE(has_room_for(h, 412 * heap_mib));
    EXPECT_TRUE(has_room_for(h, 312 * heap_mib));
}

TEST(HostHeap, GivesUpFreeAddressesForABlockThatIsLargerThanTheRest) {
    AddressLimit limit;
    if (!limit.possible()) GTEST_SKIP() << "this process's addresses cannot be limited";
    limit.leave(6 * 1024 * heap_mib);
    Heap h;
    char* const first = h.get(2 * page);  // a GiB is reserved for it
    limit.leave(512 * heap_mib);
    EXPECT_TRUE(has_room_for(h, 1100 * heap_mib));
    std::memset(first, 1, 2 * page);  // still there
}

TEST(HostHeap, LeavesMostOfFewAddressesToOthers) {
    AddressLimit limit;
    if (!limit.possible()) GTEST_SKIP() << "this process's addresses cannot be limited";
    limit.leave(2 * 1024 * heap_mib);
    Heap h;
    h.get(2 * page);
    EXPECT_GT(AddressLimit::left(), 1900 * heap_mib);
}

}  // namespace
}  // namespace engine
