#include "feed/compute_jobs.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTest>
#include <QThread>
#include <atomic>
#include <optional>

namespace ui {
namespace {

TEST(ComputeJobs, WorkOnTheComputeThreadOneAfterAnotherAndEndOnThisOne) {
    ComputeJobs jobs;
    QObject context;
    QThread* worked = nullptr;
    std::vector<int> done;
    for (int i = 0; i < 3; ++i) {
        jobs.run(
            &context, [&worked] { worked = QThread::currentThread(); },
            [&done, i] {
                EXPECT_EQ(QThread::currentThread(), qApp->thread());
                done.push_back(i);
            });
    }
    ASSERT_TRUE(QTest::qWaitFor([&] { return done.size() == 3; }, 30'000));
    EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
    EXPECT_NE(worked, QThread::currentThread());
}

TEST(ComputeJobs, TellNobodyWhoIsGone) {
    ComputeJobs jobs;
    QObject context;
    bool ended = false;
    {
        QObject passing;
        jobs.run(
            &passing, [] {}, [] { FAIL() << "nobody is left to take it"; });
    }
    jobs.run(
        &context, [] {}, [&ended] { ended = true; });
    EXPECT_TRUE(QTest::qWaitFor([&] { return ended; }, 30'000));
}

TEST(ComputeJobs, MayEndBeforeTheirWork) {
    std::optional<ComputeJobs> jobs(std::in_place);
    QObject context;
    std::atomic<int> works = 0;
    jobs->run(
        &context, [&works] { ++works; }, [] { FAIL() << "they are gone"; });
    jobs.reset();  // joins the thread; a hang would be a failure
    QCoreApplication::processEvents();
    EXPECT_LE(works, 1);
}

}  // namespace
}  // namespace ui
