#include "feed/background_task.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSemaphore>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include "engine/io/named_file.h"
#include "feed/event_feed.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

constexpr int task_patience = 30'000;  // ms

bool waits(const std::function<bool()>& until) { return QTest::qWaitFor(until, task_patience); }

TEST(InBackground, WorksElsewhereAndReportsHere) {
    QObject context;
    QThread* worked = nullptr;
    std::optional<int> found;
    inBackground(
        &context,
        [&worked] {
            worked = QThread::currentThread();
            return 7;
        },
        [&found](int result) {
            EXPECT_EQ(QThread::currentThread(), qApp->thread());
            found = result;
        });
    ASSERT_TRUE(waits([&] { return found.has_value(); }));
    EXPECT_EQ(found, 7);
    EXPECT_NE(worked, QThread::currentThread());
}

TEST(InBackground, ReportsWhatWasThrownToWhoTakesAnOutcome) {
    QObject context;
    std::optional<Failure> failure;
    inBackground(
        &context,
        []() -> int {
            throw engine::Error(engine::ErrorCode::state, engine::msg("No."), engine::msg("Yes."));
        },
        [&failure](const Outcome<int>& outcome) {
            EXPECT_FALSE(outcome.result);
            failure = outcome.failure();
        });
    ASSERT_TRUE(waits([&] { return failure.has_value(); }));
    EXPECT_EQ(failure->text(), u"No. Yes."_s);
}

TEST(InBackground, BetweenStepsWorksInOrderAndTellsNobodyWhoIsGone) {
    EventFeed feed;
    QObject context;
    std::vector<int> done;
    {
        QObject passing;
        inBackground(
            &passing, [] { return 0; }, [](int) { FAIL() << "nobody is left to take it"; },
            feed.betweenSteps());
    }
    for (int i = 0; i < 3; ++i) {
        inBackground(
            &context, [i] { return i; }, [&done](int each) { done.push_back(each); },
            feed.betweenSteps());
    }
    ASSERT_TRUE(waits([&] { return done.size() == 3; }));
    EXPECT_EQ(done, (std::vector<int>{0, 1, 2}));
}

using Task = BackgroundTask<int, QString>;

struct BackgroundTaskTest : testing::Test {
    /// Begins work that reports 5, waits for `go`, looks whether it goes on, and ends.
    void hold(Task& work) {
        work.start(
            [this](Task::Link& link) {
                link.report([](int& at) { at = 5; });
                begun.release();
                go.acquire();
                link.check();
                return u"done"_s;
            },
            [this](const Outcome<QString>& outcome) { ended = outcome; });
        ASSERT_TRUE(begun.tryAcquire(1, task_patience));
    }
    QSemaphore begun, go;
    std::optional<Outcome<QString>> ended;
    int looks = 0;
    Task task{[this] { ++looks; }, 10};
};

TEST_F(BackgroundTaskTest, TellsItsProgressAndItsResult) {
    EXPECT_EQ(task.progress(), 0);
    hold(task);
    EXPECT_TRUE(task.running());
    EXPECT_EQ(task.progress(), 5);
    EXPECT_TRUE(waits([this] { return looks > 1; }));
    go.release();
    ASSERT_TRUE(waits([this] { return ended.has_value(); }));
    EXPECT_EQ(ended->result, u"done"_s);
    EXPECT_FALSE(task.running() || task.stopped());
}

TEST_F(BackgroundTaskTest, EndsWithoutResultOrErrorOnceStopped) {
    hold(task);
    task.stop();
    EXPECT_TRUE(task.stopping());
    go.release();
    ASSERT_TRUE(waits([this] { return ended.has_value(); }));
    EXPECT_TRUE(ended->stopped());
    EXPECT_TRUE(ended->failure().isEmpty());
    EXPECT_TRUE(task.stopped());
}

TEST_F(BackgroundTaskTest, DropsTheOutcomeOfWorkThatOtherWorkReplaces) {
    hold(task);
    hold(task);
    go.release(2);
    ASSERT_TRUE(waits([this] { return ended.has_value(); }));
    EXPECT_EQ(ended->result, u"done"_s);
    ended.reset();
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_FALSE(ended) << "of the first";
}

TEST_F(BackgroundTaskTest, IsStoppedWithItsOwnerAndLeavesNoFile) {
    const QTemporaryDir folder;
    const std::string file = folder.filePath(u"answers.csv"_s).toStdString();
    {
        Task passing;
        passing.start(
            [&](Task::Link& link) {
                const engine::WorkScope scope(link.watcher());
                begun.release();
                go.acquire();
                engine::write_named_file(file, "answers");
                return u"written"_s;
            },
            [](const Outcome<QString>&) { FAIL() << "nobody is left to take it"; });
        ASSERT_TRUE(begun.tryAcquire(1, task_patience));
    }
    go.release();
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_FALSE(QFile::exists(QString::fromStdString(file)));
}

TEST_F(BackgroundTaskTest, MayStartAnewWhenItEnds) {
    int runs = 0;
    std::function<void(Outcome<QString>)> again = [&](const Outcome<QString>&) {
        if (++runs < 3) task.start([](Task::Link&) { return QString(); }, again);
    };
    task.start([](Task::Link&) { return QString(); }, again);
    EXPECT_TRUE(waits([&] { return runs == 3; }));
    EXPECT_FALSE(task.running());
}

TEST_F(BackgroundTaskTest, WaitsForTheEndOfItsWork) {
    hold(task);
    go.release();
    task.wait();
    EXPECT_FALSE(ended) << "which is told later";
    EXPECT_TRUE(waits([this] { return ended.has_value(); }));
}

}  // namespace
}  // namespace ui
