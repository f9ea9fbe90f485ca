#include "runs/serve/request_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace engine {
namespace {

TEST(RequestPool, TurnsAwayWhatFindsItsQueueFull) {
    RequestPool pool(2, 3);
    std::promise<void> go;
    const std::shared_future<void> gone(go.get_future());
    std::atomic<int> begun{0}, answered{0}, refused{0};
    std::promise<void> first_refused;
    const auto job = [&] {
        if (pool.turns_away()) {
            if (++refused == 1) first_refused.set_value();
            return;
        }
        ++begun;
        gone.wait();
        ++answered;
    };
    for (int i = 0; i < 2; ++i) pool.enqueue(job);
    while (begun < 2) std::this_thread::yield();  // both threads are busy
    for (int i = 0; i < 3; ++i) pool.enqueue(job);
    pool.enqueue(job);
    first_refused.get_future().wait();
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(begun, 2);
    go.set_value();
    pool.shutdown();
    EXPECT_EQ(answered, 5) << "those that were queued are answered at the end, too";
    EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace engine
