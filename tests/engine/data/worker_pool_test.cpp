#include "data/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace engine {
namespace {

TEST(WorkerPool, DoesEachItemOnce) {
    for (const int threads : {1, 2, 5}) {
        WorkerPool pool(threads);
        EXPECT_EQ(pool.threads(), threads);
        for (const std::size_t count : {0U, 1U, 3U, 1000U}) {
            std::vector<std::atomic<int>> done(count);
            pool.run(count, [&](std::size_t item, std::size_t) { ++done[item]; });
            for (const auto& each : done) EXPECT_EQ(each, 1);
        }
    }
}

TEST(WorkerPool, NumbersItsWorkersSoThatNoTwoShareOne) {
    WorkerPool pool(4);
    std::vector<std::atomic<int>> inside(4);
    std::atomic<int> collisions{0};
    pool.run(2000, [&](std::size_t, std::size_t worker) {
        if (inside.at(worker).fetch_add(1) != 0) ++collisions;
        inside[worker].fetch_sub(1);
    });
    EXPECT_EQ(collisions, 0);
}

TEST(WorkerPool, ThrowsWhatTheLowestFailingItemThrew) {
    for (const int threads : {1, 2, 4}) {
        WorkerPool pool(threads);
        for (int round = 0; round < 50; ++round) {
            try {
                pool.run(100, [](std::size_t item, std::size_t) {
                    if (item % 10 == 7) throw std::runtime_error(std::to_string(item));
                });
                ADD_FAILURE() << "nothing was thrown";
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "7") << threads;
            }
        }
        int after = 0;
        pool.run(1, [&](std::size_t, std::size_t) { ++after; });
        EXPECT_EQ(after, 1) << "and it goes on";
    }
}

}  // namespace
}  // namespace engine
