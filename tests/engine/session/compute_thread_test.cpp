#include "engine/session/compute_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "support/patience.h"

namespace engine {
namespace {

/// Calls a function in each turn, and counts the turns.
class Counted final : public Turn {
public:
    explicit Counted(std::function<bool(int)> act) : act_(std::move(act)) {}
    bool run_turn() override {
        const bool more = act_(calls());
        {
            const std::lock_guard lock(mutex_);
            ++calls_;
            thread_ = std::this_thread::get_id();
        }
        changed_.notify_all();
        return more;
    }
    int calls() {
        const std::lock_guard lock(mutex_);
        return calls_;
    }
    std::thread::id thread() {
        const std::lock_guard lock(mutex_);
        return thread_;
    }
    void wait_for(int calls) {
        std::unique_lock lock(mutex_);
        ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(test::patience_s),
                                      [&] { return calls_ >= calls; }));
    }

private:
    std::function<bool(int)> act_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int calls_ = 0;
    std::thread::id thread_;
};

/// A flag that threads can wait for.
class Gate {
public:
    void open() {
        {
            const std::lock_guard lock(mutex_);
            open_ = true;
        }
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

TEST(ComputeThread, StartsAndEndsWithoutWork) { const ComputeThread thread; }

TEST(ComputeThread, RunsItsTurnsOneAfterAnotherOnOneThread) {
    constexpr int rounds = 200;
    Gate all_there;
    std::atomic<int> inside{0}, overlaps{0};
    std::vector<int> order;  // only the compute thread writes it
    const auto work = [&](int id) {
        return [&, id](int calls) {
            all_there.wait();
            if (++inside > 1) ++overlaps;
            order.push_back(id);
            --inside;
            return calls + 1 < rounds;
        };
    };
    const auto a = std::make_shared<Counted>(work(0)), b = std::make_shared<Counted>(work(1));
    {
        ComputeThread thread;
        thread.add(a);
        thread.add(b);
        all_there.open();
        a->wait_for(rounds);
        b->wait_for(rounds);
        EXPECT_EQ(a->thread(), b->thread());
        EXPECT_NE(a->thread(), std::this_thread::get_id());
    }
    EXPECT_EQ(overlaps, 0);
    // Both were there before the first turn ended. Each round has a turn of each. Rounds begin with
    // them alternately, so that neither always finds the caches warm.
    for (std::size_t i = 0; i + 2 < 2 * rounds - 2; i += 2) {
        EXPECT_NE(order[i], order[i + 1]) << "turn " << i;
        EXPECT_NE(order[i], order[i + 2]) << "turn " << i;
    }
}

TEST(ComputeThread, RunsWorkOnceInItsOrderAndDropsWhatIsLeft) {
    std::vector<int> done;
    std::promise<void> all;
    ComputeThread thread;
    for (int i = 0; i < 3; ++i) thread.run_once([&done, i] { done.push_back(i); });
    thread.run_once([&all] { all.set_value(); });
    all.get_future().wait();
    EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
    std::atomic<int> works = 0;
    {
        ComputeThread passing;
        for (int i = 0; i < 100; ++i) passing.run_once([&works] { ++works; });
    }
    EXPECT_LE(works, 100);
}

TEST(ComputeThread, RunsNoTurnDuringAPause) {
    std::atomic<bool> paused{false};
    std::atomic<int> turns{0}, during{0};
    const auto busy = std::make_shared<Counted>([&](int) {
        if (paused) ++during;
        ++turns;
        return true;
    });
    ComputeThread thread;
    thread.add(busy);
    busy->wait_for(10);
    {
        const ComputeThread::Pause pause(thread);
        paused = true;
        const int before = turns;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_EQ(turns, before);
        paused = false;
    }
    busy->wait_for(turns + 10);
    EXPECT_EQ(during, 0);
    thread.remove(busy.get());
}

TEST(ComputeThread, BeginsWithTheFirstAgainAfterIdleRounds) {
    constexpr int idle = 7;
    bool work = false;  // as `order`, only used by the compute thread
    std::vector<int> order;
    const auto turn = [&](int id) {
        return [&, id](int calls) {
            if (id == 0 && calls >= idle) work = true;
            if (!work || order.size() == 4) return false;
            order.push_back(id);
            return true;
        };
    };
    const auto a = std::make_shared<Counted>(turn(0)), b = std::make_shared<Counted>(turn(1));
    {
        ComputeThread thread;
        thread.add(a);
        thread.add(b);
        for (int calls = 1; calls <= idle; ++calls) {
            b->wait_for(calls);
            thread.wake();
        }
        a->wait_for(idle + 2);
    }
    EXPECT_EQ(order, (std::vector{0, 1, 1, 0}));
}

TEST(ComputeThread, AsksAnIdleTurnAgainAfterWake) {
    const auto idle = std::make_shared<Counted>([](int) { return false; });
    ComputeThread thread;
    thread.add(idle);
    for (int calls = 1; calls < 20; ++calls) {
        idle->wait_for(calls);
        thread.wake();
    }
    idle->wait_for(20);
}

TEST(ComputeThread, LeavesAnIdleTurnAloneUntilWake) {
    const auto idle = std::make_shared<Counted>([](int) { return false; });
    ComputeThread thread;
    thread.add(idle);
    idle->wait_for(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_LE(idle->calls(), 2) << "add() may cause one more call, since it wakes the thread too";
}

TEST(ComputeThread, KeepsAWakeThatComesDuringTheTurn) {
    ComputeThread thread;
    const auto self_waking = std::make_shared<Counted>([&](int calls) {
        if (calls < 10) thread.wake();
        return false;
    });
    thread.add(self_waking);
    self_waking->wait_for(11);
    thread.remove(self_waking.get());
}

TEST(ComputeThread, RemoveWaitsForTheRunningTurnAndIsFinal) {
    Gate entered, leave;
    std::atomic<bool> ended{false};
    const auto slow = std::make_shared<Counted>([&](int) {
        entered.open();
        leave.wait();
        ended = true;
        return true;
    });
    ComputeThread thread;
    thread.add(slow);
    entered.wait();
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        leave.open();
    });
    thread.remove(slow.get());
    EXPECT_TRUE(ended);
    later.join();
    slow->wait_for(1);
    thread.wake();
    const auto other = std::make_shared<Counted>([](int) { return false; });
    thread.add(other);
    other->wait_for(1);
    EXPECT_EQ(slow->calls(), 1);
}

TEST(ComputeThread, HoldsNothingOfATurnAfterRemove) {
    ComputeThread thread;
    for (int i = 0; i < 200; ++i) {
        auto turn = std::make_shared<Counted>([](int) { return true; });
        const std::weak_ptr<Counted> watched = turn;
        thread.add(turn);
        turn->wait_for(1);
        thread.remove(turn.get());
        turn.reset();
        EXPECT_TRUE(watched.expired());
    }
}

TEST(ComputeThread, RemovingWhatIsNotThereIsHarmless) {
    ComputeThread thread;
    const Counted never([](int) { return false; });
    thread.remove(&never);
    const auto turn = std::make_shared<Counted>([](int) { return false; });
    thread.add(turn);
    thread.remove(turn.get());
    thread.remove(turn.get());
}

TEST(ComputeThread, GoesOnWithTheOthersWhenOneIsRemoved) {
    ComputeThread thread;
    const auto stays = std::make_shared<Counted>([](int) { return true; });
    const auto goes = std::make_shared<Counted>([](int) { return true; });
    thread.add(goes);
    thread.add(stays);
    goes->wait_for(5);
    thread.remove(goes.get());
    const int before = stays->calls();
    stays->wait_for(before + 5);
    thread.remove(stays.get());
}

TEST(ComputeThread, EndsWhileTurnsStillHaveWork) {
    const auto endless = std::make_shared<Counted>([](int) { return true; });
    {
        ComputeThread thread;
        thread.add(endless);
        endless->wait_for(3);
    }
    const int calls = endless->calls();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(endless->calls(), calls);
}

TEST(ComputeThread, IsSafeWhenManyThreadsAddWakeAndRemove) {
    ComputeThread thread;
    std::vector<std::thread> users;
    for (int user = 0; user < 4; ++user) {
        users.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                const auto turn = std::make_shared<Counted>([](int calls) { return calls < 3; });
                thread.add(turn);
                thread.wake();
                turn->wait_for(2);
                thread.remove(turn.get());
            }
        });
    }
    for (auto& user : users) user.join();
}

}  // namespace
}  // namespace engine
