#include "plots/paint_scheduler.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QEventLoop>
#include <QTimer>

namespace ui {
namespace {

struct Fake : Paintable {
    Fake(std::vector<int>* log, int id) : log_(log), id_(id) {}
    bool visible() const override { return shown; }
    void paintNow() override { log_->push_back(id_); }
    void present() override { log_->push_back(10 * id_); }
    bool shown = true;

private:
    std::vector<int>* log_;
    int id_;
};

void runFor(int ms) {
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

TEST(PaintBudget, LeavesTheShareOfTheMachineThatItSays) {
    // 6 ms of painting on two cores, with a limit of 3 %: one paint in 100 ms.
    EXPECT_DOUBLE_EQ(6 + pauseAfter(6, 0.03, 2), 100);
}

TEST(PaintScheduler, PaintsEachPlotOnceHoweverOftenItWasAskedFor) {
    std::vector<int> log;
    PaintScheduler scheduler;
    Fake a(&log, 1);
    Fake b(&log, 2);
    scheduler.add(&a);
    scheduler.add(&b);
    for (int i = 0; i < 100; ++i) {
        scheduler.request(&a);
        scheduler.request(&b);
    }
    runFor(100);
    EXPECT_EQ(log, (std::vector<int>{1, 2, 10, 20}));
}

/// A new window must not be blank for seconds while a run trains.
TEST(PaintScheduler, PaintsAPlotForTheFirstTimeWhateverTheBudget) {
    std::vector<int> log;
    PaintScheduler scheduler;
    scheduler.setSaving(true);
    scheduler.charge(10'000);
    Fake plot(&log, 1);
    scheduler.add(&plot);
    scheduler.request(&plot);
    runFor(50);
    EXPECT_EQ(log, (std::vector<int>{1, 10}));
    scheduler.request(&plot);
    runFor(50);
    EXPECT_EQ(log.size(), 2u) << "the second time waits";
}

TEST(PaintScheduler, LeavesHiddenPlotsAloneUntilTheyShow) {
    std::vector<int> log;
    PaintScheduler scheduler;
    Fake plot(&log, 1);
    plot.shown = false;
    scheduler.add(&plot);
    scheduler.request(&plot);
    runFor(50);
    EXPECT_TRUE(log.empty());
    plot.shown = true;
    scheduler.request(&plot);
    runFor(50);
    EXPECT_EQ(log, (std::vector<int>{1, 10}));
}

TEST(PaintScheduler, ShowsNothingOfAFrameBeforeAllOfItIsPainted) {
    std::vector<int> log;
    PaintScheduler scheduler;
    scheduler.setSaving(true);
    Fake a(&log, 1), b(&log, 2), c(&log, 3);
    for (auto* plot : {&a, &b, &c}) scheduler.add(plot);
    QObject::connect(&scheduler, &PaintScheduler::presented, &scheduler,
                     [&] { log.push_back(-1); });
    for (auto* plot : {&a, &b, &c}) scheduler.request(plot);
    EXPECT_FALSE(scheduler.isReady());
    runFor(100);
    EXPECT_EQ(log, (std::vector<int>{1, 2, 3, 10, 20, 30, -1}));
    EXPECT_TRUE(scheduler.isReady());
}

TEST(PaintScheduler, ShowsWhatItPaintedWhenTheRestOfTheFrameGoesOutOfSight) {
    std::vector<int> log;
    PaintScheduler scheduler;
    Fake a(&log, 1), b(&log, 2);
    scheduler.add(&a);
    scheduler.add(&b);
    scheduler.request(&a);
    scheduler.request(&b);
    QTimer::singleShot(0, &scheduler, [&] { b.shown = false; });
    runFor(100);
    EXPECT_TRUE(scheduler.isReady());
    EXPECT_EQ(std::count(log.begin(), log.end(), 10), 1);
}

TEST(PaintScheduler, IsReadyAgainHoweverMuchPaintingHasCost) {
    PaintScheduler scheduler;
    scheduler.setSaving(true);
    // On a busy machine other painting takes long, again and again.
    QTimer others;
    QObject::connect(&others, &QTimer::timeout, &scheduler, [&] { scheduler.charge(1000); });
    others.start(10);
    scheduler.charge(1000);
    EXPECT_FALSE(scheduler.isReady());
    EXPECT_TRUE(QTest::qWaitFor([&] { return scheduler.isReady(); }, 300'000));
}

TEST(PaintScheduler, PaintsOnlyWhatCanBeSeen) {
    std::vector<int> log;
    PaintScheduler scheduler;
    Fake plot(&log, 1);
    plot.shown = false;
    scheduler.add(&plot);
    scheduler.request(&plot);
    EXPECT_FALSE(scheduler.isPainting());
    plot.shown = true;
    EXPECT_TRUE(scheduler.isPainting());
}

TEST(PaintScheduler, ForgetsAPlotThatIsGone) {
    std::vector<int> log;
    PaintScheduler scheduler;
    Fake plot(&log, 1);
    scheduler.add(&plot);
    scheduler.request(&plot);
    scheduler.remove(&plot);
    runFor(50);
    EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace ui
