#include "tryit/model_worker.h"

#include <thread>

#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using Job = ModelWorker::Job;

struct ModelWorkerTest : TryItFixture {
    ModelWorkerTest() {
        const auto runFolder = train(text(), "fp32").folder;
        worker = std::make_unique<ModelWorker>(&pool, [this, runFolder] {
            ++opened;
            return std::make_unique<engine::TrainedModel>(runFolder, "last", "cpu");
        });
    }
    bool waits(const std::function<bool()>& until) { return QTest::qWaitFor(until, 300'000); }
    static void fail(const engine::Error& error) { ADD_FAILURE() << error.what(); }

    std::atomic<int> opened = 0;
    QThreadPool pool;
    QObject context;
    std::unique_ptr<ModelWorker> worker;
};

TEST_F(ModelWorkerTest, WorksOnAnotherThreadAndReportsOnThisOne) {
    const auto here = std::this_thread::get_id();
    std::thread::id worked, told;
    worker->ask(
        Job::answer, &context,
        [&](engine::TrainedModel&, const ModelWorker::Ticket& ticket) {
            ticket.post([&, there = std::this_thread::get_id()] {
                worked = there;
                told = std::this_thread::get_id();
            });
        },
        fail);
    ASSERT_TRUE(waits([&] { return told != std::thread::id(); }));
    EXPECT_EQ(told, here);
    EXPECT_NE(worked, here);
}

TEST_F(ModelWorkerTest, FreesTheModelOnceNoJobWaitsAndOpensItForTheNextOne) {
    int done = 0;
    const auto work = [&](engine::TrainedModel&, const ModelWorker::Ticket& ticket) {
        ticket.post([&] { ++done; });
    };
    worker->ask(Job::answer, &context, work, fail);
    worker->release();  // while it works
    ASSERT_TRUE(waits([&] { return done == 1 && !worker->holdsModel(); }));
    worker->ask(Job::answer, &context, work, fail);
    ASSERT_TRUE(waits([&] { return done == 2; }));
    EXPECT_EQ(opened, 2);
    EXPECT_TRUE(worker->holdsModel());
    pool.waitForDone();
    worker->release();  // while it rests
    EXPECT_FALSE(worker->holdsModel());
}

TEST_F(ModelWorkerTest, OpensTheModelOnceUntilItIsToOpenItAnew) {
    int done = 0;
    const auto work = [&](engine::TrainedModel&, const ModelWorker::Ticket& ticket) {
        ticket.post([&] { ++done; });
    };
    for (int i = 1; i <= 3; ++i) {
        worker->ask(Job::answer, &context, work, fail);
        ASSERT_TRUE(waits([&] { return done == i; }));
    }
    EXPECT_EQ(opened, 1);
    worker->reopen();
    worker->ask(Job::answer, &context, work, fail);
    ASSERT_TRUE(waits([&] { return done == 4; }));
    EXPECT_EQ(opened, 2);
}

TEST_F(ModelWorkerTest, OfJobsOfAKindThatWaitOnlyTheNewestIsDone) {
    std::atomic<bool> go = false;
    std::vector<int> done;
    worker->ask(
        Job::open, &context,
        [&](engine::TrainedModel&, const ModelWorker::Ticket&) {
            while (!go) std::this_thread::yield();
        },
        fail);
    for (int i = 0; i < 5; ++i) {
        worker->ask(
            Job::answer, &context,
            [&, i](engine::TrainedModel&, const ModelWorker::Ticket& ticket) {
                ticket.post([&, i] { done.push_back(i); });
            },
            fail);
    }
    go = true;
    ASSERT_TRUE(waits([&] { return !done.empty(); }));
    pool.waitForDone();
    standsStill();
    EXPECT_EQ(done, std::vector{4});
}

TEST_F(ModelWorkerTest, AStoppedJobReportsNoMore) {
    std::atomic<bool> running = false;
    bool told = false;
    worker->ask(
        Job::generate, &context,
        [&](engine::TrainedModel&, const ModelWorker::Ticket& ticket) {
            running = true;
            while (!ticket.stopped()) std::this_thread::yield();
            ticket.post([&] { told = true; });
        },
        fail);
    ASSERT_TRUE(waits([&] { return running.load(); }));
    worker->stop(Job::generate);
    pool.waitForDone();
    standsStill();
    EXPECT_FALSE(told);
}

TEST_F(ModelWorkerTest, WhatAJobThrowsIsReported) {
    std::string message;
    worker->ask(
        Job::answer, &context,
        [](engine::TrainedModel& model, const ModelWorker::Ticket&) {
            model.answer(engine::Picture{});  // this model continues text
        },
        [&](const engine::Error& error) { message = error.what(); });
    ASSERT_TRUE(waits([&] { return !message.empty(); }));
    EXPECT_NE(message.find("does not take a picture"), std::string::npos) << message;
}

}  // namespace
}  // namespace ui
