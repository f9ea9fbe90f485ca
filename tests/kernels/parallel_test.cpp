#include "kernels/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "kernels/support.h"

namespace kernels::test {
namespace {

using cpu::parallel_for;

TEST(ParallelFor, VisitsEveryElementOnce) {
    with_threads([](int) {
        for (std::int64_t n : {0, 1, 63, 64, 1000, 100003}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
            parallel_for(n, 1, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
            });
            for (const auto& count : visits) ASSERT_EQ(count, 1);
        }
    });
}

TEST(ParallelFor, HandsOnWhatARangeThrows) {
    with_threads([](int) {
        std::atomic<std::int64_t> visited{0};
        const auto half = [&](std::int64_t begin, std::int64_t end) {
            visited += end - begin;
            if (begin <= 50 && 50 < end) throw std::runtime_error("50");
        };
        EXPECT_THROW(parallel_for(100, 1, half), std::runtime_error);
        EXPECT_EQ(visited, 100);  // the other ranges were completed
    });
}

TEST(ParallelFor, MakesNoRangeSmallerThanTheGrainAndNoMoreRangesThanThreads) {
    with_threads([](int threads) {
        std::mutex guard;
        std::vector<std::int64_t> lengths;
        parallel_for(100, 30, [&](std::int64_t begin, std::int64_t end) {
            const std::lock_guard lock(guard);
            lengths.push_back(end - begin);
        });
        EXPECT_LE(lengths.size(), static_cast<std::size_t>(threads));
        for (auto length : lengths) EXPECT_GE(length, 30);
    });
}

TEST(ParallelFor, StaysInOneRangeBelowTwoGrains) {
    int calls = 0;
    parallel_for(59, 30, [&](std::int64_t, std::int64_t) { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST(Threads, AreWhatWasSetAndAtLeastOne) {
    const int before = cpu::threads();
    cpu::set_threads(2);
    EXPECT_EQ(cpu::threads(), 2);
    cpu::set_threads(0);
    EXPECT_EQ(cpu::threads(), 1);
    cpu::set_threads(before);
    EXPECT_GE(cpu::hardware_threads(), 1);
}

}  // namespace
}  // namespace kernels::test
