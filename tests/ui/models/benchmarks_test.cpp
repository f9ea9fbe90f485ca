#include "models/benchmarks.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>

#include "engine/runs/run_store.h"
#include "feed/event_feed.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct BenchmarksTest : testing::Test {
    BenchmarksTest() {
        feed.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString() + "/runs"));
    }
    ~BenchmarksTest() override {
        if (benchmarks) benchmarks->stop();
        QThreadPool::globalInstance()->waitForDone();
    }
    void open() {
        benchmarks.reset();
        benchmarks = std::make_unique<Benchmarks>(&feed, folder.filePath(u"benchmarks.json"_s));
    }
    static engine::RunConfig ofRun() {
        engine::RunConfig config = engine::default_comparison();
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.batch_size = 64;
        config.device = "cpu";
        config.threads = 1;
        config.epochs = 100'000;
        return config;
    }
    std::size_t chosen() {
        return static_cast<std::size_t>(
            std::ranges::count(benchmarks->book().entries, true, &BenchmarkEntry::chosen));
    }

    QTemporaryDir folder;
    EventFeed feed;
    std::unique_ptr<Benchmarks> benchmarks;
};

TEST_F(BenchmarksTest, ChoiceAndResultsAreKeptBetweenStarts) {
    open();
    for (std::size_t i = 0; i < benchmarks->book().entries.size(); ++i)
        benchmarks->setChosen(i, i == 0);
    benchmarks->setPrecision(u"amp-fp16"_s, false);
    benchmarks->setFindsBatches(false);
    QSignalSpy results(benchmarks.get(), &Benchmarks::resultsChanged);
    ASSERT_EQ(benchmarks->whyNot(), QString());
    benchmarks->start();
    EXPECT_TRUE(benchmarks->job().running());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !benchmarks->job().running(); }, 300'000));
    EXPECT_EQ(results.count(), 1);
    EXPECT_TRUE(benchmarks->outcome().startsWith(u"1 of 1 models measured in"_s))
        << benchmarks->outcome().toStdString();
    open();
    EXPECT_EQ(chosen(), 1u);
    ASSERT_EQ(benchmarks->book().results.size(), 1u);
    const engine::RunConfig mlp = engine::speedup_settings().front();
    ASSERT_NE(benchmarks->find(mlp, "amp-bf16"), nullptr);
    EXPECT_EQ(benchmarks->find(mlp, "amp-fp16"), nullptr);
    EXPECT_GT(benchmarks->find(mlp, "amp-bf16")->row.speed_up, 0);
}

TEST_F(BenchmarksTest, SaysWhatIsMissing) {
    open();
    EXPECT_EQ(benchmarks->whyNot(), QString());
    benchmarks->setMemory(u"plenty"_s);
    EXPECT_TRUE(benchmarks->whyNot().startsWith(u"plenty is not a size"_s));
    benchmarks->setFindsBatches(false);
    EXPECT_EQ(benchmarks->whyNot(), QString());
    benchmarks->setPrecision(u"amp-fp16"_s, false);
    benchmarks->setPrecision(u"amp-bf16"_s, false);
    EXPECT_EQ(benchmarks->whyNot(), u"Choose a precision on the left."_s);
    for (std::size_t i = 0; i < benchmarks->book().entries.size(); ++i)
        benchmarks->setChosen(i, false);
    EXPECT_EQ(benchmarks->whyNot(), u"Choose a model on the left."_s);
    benchmarks->start();
    EXPECT_FALSE(benchmarks->job().running());
}

TEST_F(BenchmarksTest, ARunsSettingsAreAddedOnceAndChosenAlone) {
    open();
    const std::size_t before = benchmarks->book().entries.size();
    benchmarks->chooseRun(ofRun(), "pure-fp16");
    engine::RunConfig again = ofRun();
    again.seed = 9;
    benchmarks->chooseRun(again, "pure-fp16");
    ASSERT_EQ(benchmarks->book().entries.size(), before + 1);
    EXPECT_TRUE(benchmarks->book().entries.back().ofRun);
    EXPECT_EQ(chosen(), 1u);
    EXPECT_TRUE(benchmarks->book().entries.back().chosen);
    EXPECT_TRUE(benchmarks->book().precisions.contains(u"pure-fp16"_s));
    EXPECT_TRUE(benchmarks->takeRequest());
    EXPECT_FALSE(benchmarks->takeRequest());
    for (int batch = 1; batch <= 8; ++batch) {
        again.batch_size = batch;
        benchmarks->chooseRun(again, "amp-fp16");
    }
    EXPECT_EQ(benchmarks->book().entries.size(), before + 6) << "the oldest ones go";
    EXPECT_EQ(benchmarks->book().entries.back().settings.batch_size, 8);
    EXPECT_EQ(chosen(), 1u);
}

TEST_F(BenchmarksTest, ARunThatTrainsAndAMeasurementKeepApart) {
    open();
    benchmarks->start();
    ASSERT_TRUE(benchmarks->job().running());
    feed.experiment().open({ofRun()});
    feed.experiment().post(engine::Command::start);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !benchmarks->job().running(); }, 300'000));
    EXPECT_TRUE(benchmarks->outcome().startsWith(u"Stopped: a run began to train"_s))
        << benchmarks->outcome().toStdString();
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return feed.state() == engine::RunState::training; }, 300'000));
    EXPECT_TRUE(benchmarks->whyNot().startsWith(u"A run is training"_s));
    benchmarks->start();
    EXPECT_FALSE(benchmarks->job().running());
    feed.experiment().post(engine::Command::stop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    EXPECT_EQ(benchmarks->whyNot(), QString());
}

}  // namespace
}  // namespace ui
