#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "kernels/cuda_device.h"
#include "simt/device.h"
#include "simt/language.h"
#include "simt/races.h"
#include "simt/watched.h"
#include "simt/work_counts.h"

// The race detector without the compiler's calls: the test makes the accesses.
namespace kernels::simt {
namespace {

struct Memory {
    explicit Memory(std::size_t bytes) : data(static_cast<std::byte*>(cuda::allocate(bytes))) {}
    ~Memory() { cuda::release(data); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    std::byte* data;
};

void reads(const void* at, std::size_t bytes) { note_access(at, bytes, AccessKind::read, nullptr); }
void writes(const void* at, std::size_t bytes) {
    note_access(at, bytes, AccessKind::write, nullptr);
}

/// The finding of a launch of `kernel`; empty: none.
std::string finding(int blocks, int threads, const std::function<void()>& kernel) {
    std::string told;
    enqueue_kernel("k", {blocks, 1, threads}, {}, kernel);
    try {
        cuda::synchronize({});
    } catch (const std::logic_error& error) {
        told = error.what();
    }
    repair();
    return told;
}

int thread() { return static_cast<int>(threadIdx.x); }
int block() { return static_cast<int>(blockIdx.x); }

class Races : public testing::TestWithParam<ThreadOrder> {
protected:
    void SetUp() override { configure({.order = GetParam()}); }
    void TearDown() override { configure({}); }
};

TEST_P(Races, NeedABarrierBetweenAWriteAndAnothersRead) {
    const Memory memory(256);
    const auto neighbour = [&](bool barrier) {
        return finding(1, 64, [&memory, barrier] {
            writes(memory.data + 4 * thread(), 4);
            if (barrier) __syncthreads();
            reads(memory.data + 4 * (63 - thread()), 4);
        });
    };
    EXPECT_EQ(neighbour(true), "");
    EXPECT_THAT(neighbour(false), testing::HasSubstr("with no barrier between"));
}

TEST_P(Races, NeedABarrierBetweenAReadAndAnothersWrite) {
    const Memory memory(256);
    const auto loop = [&](bool barrier) {
        return finding(1, 32, [&memory, barrier] {
            for (int turn = 0; turn < 2; ++turn) {
                writes(memory.data + 4 * thread(), 4);
                __syncthreads();
                reads(memory.data, 128);
                if (barrier) __syncthreads();
            }
        });
    };
    EXPECT_EQ(loop(true), "");
    EXPECT_THAT(loop(false), testing::HasSubstr("with no barrier between"));
}

TEST_P(Races, AShuffleIsNoBarrier) {
    const Memory memory(256);
    EXPECT_NE(finding(1, 32,
                      [&memory] {
                          writes(memory.data + 4 * thread(), 4);
                          __shfl_xor_sync(0xffffffffu, 1, 1);
                          reads(memory.data + 4 * (thread() ^ 1), 4);
                      }),
              "");
}

TEST_P(Races, NoBarrierOrdersTwoBlocks) {
    const Memory memory(256);
    const std::string told = finding(3, 32, [&memory] {
        __syncthreads();
        if (thread() == 0) writes(memory.data + 4 * (block() / 2), 4);
    });
    EXPECT_THAT(told, testing::HasSubstr("thread 0 of block 1 writes device memory at offset"));
    // A block reads what two others have read before.
    EXPECT_NE(finding(2, 32,
                      [&memory] {
                          reads(memory.data, 4);
                          __syncthreads();
                          if (block() == 1 && thread() == 0) writes(memory.data, 4);
                      }),
              "");
}

TEST_P(Races, LaunchesAreInOrder) {
    const Memory memory(256);
    for (int launch = 0; launch < 2; ++launch)
        EXPECT_EQ(finding(1, 32, [&memory] { writes(memory.data + 4 * thread(), 4); }), "");
    EXPECT_EQ(finding(4, 1, [&memory] { writes(memory.data + 4 * block(), 4); }), "");
}

TEST_P(Races, AtomicsMayMeetEachOtherAlone) {
    const Memory memory(256);
    EXPECT_EQ(finding(4, 32, [&memory] { note_atomic(memory.data, 4); }), "");
    EXPECT_NE(finding(4, 32,
                      [&memory] {
                          note_atomic(memory.data, 4);
                          if (block() == 3) reads(memory.data, 4);
                      }),
              "");
}

TEST_P(Races, AnAtomicNeedsABarrierAfterAnothersWrite) {
    const Memory memory(256);
    const auto counter = [&](bool barrier) {
        return finding(1, 32, [&memory, barrier] {
            if (thread() == 0) writes(memory.data, 4);
            if (barrier) __syncthreads();
            note_atomic(memory.data, 4);
        });
    };
    EXPECT_EQ(counter(true), "");
    EXPECT_THAT(counter(false), testing::HasSubstr("with no barrier between"));
    // No barrier orders the first block's write before the other's operation.
    EXPECT_NE(finding(2, 32,
                      [&memory] {
                          if (block() == 0 && thread() == 0) writes(memory.data, 4);
                          __syncthreads();
                          note_atomic(memory.data, 4);
                      }),
              "");
}

TEST_P(Races, NeighboursShareNothing) {
    const Memory memory(1 << 12);
    for (const std::size_t bytes : {1, 2, 4, 8, 16}) {
        EXPECT_EQ(finding(2, 64,
                          [&memory, bytes] {
                              std::byte* mine =
                                  memory.data +
                                  static_cast<std::size_t>(64 * block() + thread()) * bytes;
                              reads(mine, bytes);
                              writes(mine, bytes);
                          }),
                  "")
            << bytes;
    }
}

TEST_P(Races, SharedMemoryIsEachBlocksOwnAndHoldsNothingAtFirst) {
    static float shared[32];
    EXPECT_EQ(finding(3, 32,
                      [] {
                          writes(&shared[thread()], 4);
                          __syncthreads();
                          reads(&shared[31 - thread()], 4);
                      }),
              "");
    const std::string told = finding(3, 32, [] {
        if (block() == 0) writes(&shared[thread()], 4);
        __syncthreads();
        reads(&shared[thread()], 4);
    });
    EXPECT_THAT(told, testing::HasSubstr("of block 1 reads shared memory"));
    EXPECT_THAT(told, testing::HasSubstr("nobody in the block has written"));
}

TEST_P(Races, EachPlaceCountsOnceInTheBytesOfALaunch) {
    const Memory memory(256);
    const auto moved = [&memory](int blocks, const std::function<void()>& kernel) {
        EXPECT_EQ(finding(blocks, 32, kernel), "");
        const Traffic traffic = traffic_of_launch();
        return std::pair(traffic.read, traffic.written);
    };
    const auto read_all = [&memory] { reads(memory.data, 128); };
    EXPECT_EQ(moved(2, read_all), std::pair(128L, 0L)) << "by 64 threads of two blocks";
    EXPECT_EQ(moved(1,
                    [&memory] {
                        reads(memory.data + 4 * thread(), 4);
                        writes(memory.data + 4 * thread(), 4);
                    }),
              std::pair(128L, 128L));
    EXPECT_EQ(moved(1,
                    [&memory] {
                        writes(memory.data + 4 * thread(), 4);
                        reads(memory.data + 4 * thread(), 4);
                        writes(memory.data + 4 * thread(), 4);
                    }),
              std::pair(0L, 128L));
    EXPECT_EQ(moved(2, [&memory] { note_atomic(memory.data, 8); }), std::pair(8L, 8L));
}

INSTANTIATE_TEST_SUITE_P(InBothOrders, Races,
                         testing::Values(ThreadOrder::forward, ThreadOrder::backward));

TEST(RacesOfKernels, AreSeenThroughTheCompilersCalls) {
    const Memory memory(256);
    EXPECT_EQ(finding(1, 64, [&memory] { read_neighbours(memory.data, true); }), "");
    const std::string told = finding(1, 64, [&memory] { read_neighbours(memory.data, false); });
    EXPECT_THAT(told, testing::HasSubstr("with no barrier between (addr2line"));
}

TEST(BytesOfKernels, AreSeenThroughTheCompilersCalls) {
    const Memory memory(256);
    start_counting();
    for (int launch = 0; launch < 2; ++launch)
        EXPECT_EQ(finding(1, 64, [&memory] { read_neighbours(memory.data, true); }), "");
    const WorkCounts counts = stop_counting();
    ASSERT_EQ(counts.size(), 1u);
    const WorkCount& count = counts.at("k");
    EXPECT_EQ(count.runs, 2);
    EXPECT_EQ(count.bytes_read, 0) << "what it has written before";
    EXPECT_EQ(count.bytes_written, 2 * 64 * 4);
}

}  // namespace
}  // namespace kernels::simt
