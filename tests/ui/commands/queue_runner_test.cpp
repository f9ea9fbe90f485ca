// Queued runs in the window: trained one after another, stopped, failed and returned to the queue.
#include "commands/queue_runner.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>

#include "engine/runs/run_group.h"
#include "feed/run_track.h"
#include "panels/history/run_actions.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::QueueState;

struct QueueRunnerTest : WindowFixture {
    static engine::RunConfig spirals(const std::vector<std::string>& more) {
        std::vector<std::string> settings = {"dataset.kind=spirals",    "model.kind=mlp",
                                             "dataset.train_limit=256", "dataset.test_limit=64",
                                             "batch_size=32",           "precision.preset=fp32"};
        settings.insert(settings.end(), more.begin(), more.end());
        return engine::parse_run_config("{}", settings).config;
    }
    void add(const std::vector<std::string>& more) { queue.add({{spirals(more), "a run", ""}}); }
    std::vector<QueueState> states() {
        std::vector<QueueState> out;
        for (const auto& run : queue.runs()) out.push_back(run.state);
        return out;
    }
    bool comesTo(const std::vector<QueueState>& wanted) {
        return QTest::qWaitFor([&] { return states() == wanted && !queue.isOn(); }, 300'000);
    }
};

TEST_F(QueueRunnerTest, TrainsWhatWaitsOneAfterAnotherAndThenTurnsItselfOff) {
    add({"seed=1"});
    add({"seed=2"});
    queue.start();
    EXPECT_TRUE(queue.isOn());
    ASSERT_TRUE(comesTo({QueueState::done, QueueState::done}));
    const auto runs = queue.runs();
    EXPECT_EQ(feed.store()->find(runs[0].run)->config.seed, 1);
    EXPECT_EQ(feed.store()->find(runs[1].run)->config.seed, 2);
    EXPECT_EQ(feed.store()->list().size(), 2u);
}

TEST_F(QueueRunnerTest, TheRunsOfAComparisonTrainTogetherAndAreResumedSo) {
    const std::string batch = engine::new_queued_comparison();
    queue.add({{spirals({"epochs=400"}), "fp32", batch},
               {spirals({"epochs=400", "precision.preset=amp-fp16"}), "amp-fp16", batch},
               {spirals({"seed=2"}), "alone", ""}});
    queue.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return feed.tracks().size() == 2 && feed.tracks()[1]->rows() >= 3; }, 300'000));
    EXPECT_EQ(states(),
              (std::vector{QueueState::running, QueueState::running, QueueState::waiting}));
    commands.stop();
    ASSERT_TRUE(comesTo({QueueState::waiting, QueueState::waiting, QueueState::waiting}));
    queue.start();
    ASSERT_TRUE(comesTo({QueueState::done, QueueState::done, QueueState::done}));
    const auto runs = feed.store()->list();
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_EQ(runs[1].group, batch);
    EXPECT_EQ(runs[2].group, batch);
    EXPECT_EQ(runs[1].group_number, 1);
    EXPECT_EQ(runs[0].group_number, 0);
    EXPECT_EQ(runs[1].steps, 400 * 8);
    EXPECT_EQ(runs[2].steps, 400 * 8);
}

TEST_F(QueueRunnerTest, ThePageQueuesAComparisonAsOneAndKeepsTheChoiceForItsEnd) {
    commands.showPage(u"queue"_s);
    auto* add = window->findChild<QPushButton*>(u"queueComparison"_s);
    ASSERT_NE(add, nullptr);
    add->click();
    const auto runs = queue.runs();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_TRUE(engine::is_queued_comparison(runs[0].entry.batch));
    EXPECT_EQ(runs[0].entry.batch, runs[1].entry.batch);
    EXPECT_NE(runs[0].entry.config.precision.preset, runs[1].entry.config.precision.preset);
    auto* what = window->findChild<QComboBox*>(u"atQueueEnd"_s);
    auto* command = window->findChild<QLineEdit*>(u"queueCommand"_s);
    EXPECT_FALSE(command->isVisible());
    what->setCurrentIndex(1);
    EXPECT_TRUE(command->isVisible());
    command->setText(u"true"_s);
    EXPECT_EQ(queue.atEnd(), QueueRunner::AtEnd::command);
    EXPECT_EQ(queue.command(), u"true"_s);
}

TEST_F(QueueRunnerTest, ASweepAloneGoesOn) {
    queue.add({{spirals({"seed=1"}), "other", ""}, {spirals({"seed=2"}), "point", "sweep-1"}});
    EXPECT_TRUE(queue.hasSweep("sweep-1"));
    EXPECT_FALSE(queue.hasSweep("sweep-2"));
    queue.start("sweep-1");
    ASSERT_TRUE(comesTo({QueueState::waiting, QueueState::done}));
}

TEST_F(QueueRunnerTest, ASweepThatTheQueueHasLostGoesOnAsOne) {
    queue.add({{spirals({"epochs=1000"}), "point", "sweep-7"}});
    queue.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() >= 20; }, 300'000));
    commands.stop();
    ASSERT_TRUE(comesTo({QueueState::waiting}));
    queue.remove({queue.runs()[0].id});
    ASSERT_TRUE(queue.runs().empty());
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
            return history.runs() && history.runs()->size() == 1 &&
                   history.runs()->front().state == "stopped";
        },
        300'000));
    resumeTogether(context, *history.runs());
    ASSERT_TRUE(comesTo({QueueState::done}));
    EXPECT_EQ(queue.runs()[0].entry.batch, "sweep-7");
    const auto runs = feed.store()->list();
    ASSERT_EQ(runs.size(), 1u) << "it is one run";
    EXPECT_EQ(runs[0].steps, 1000 * 8);
    EXPECT_EQ(runs[0].group, "sweep-7");
}

TEST_F(QueueRunnerTest, StopGivesTheRunBackAndEndsTheQueue) {
    add({"epochs=100000"});
    add({"seed=2"});
    queue.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() >= 3; }, 300'000));
    EXPECT_EQ(states()[0], QueueState::running);
    commands.stop();
    ASSERT_TRUE(comesTo({QueueState::waiting, QueueState::waiting}));
}

TEST_F(QueueRunnerTest, ARunThatWasStoppedGoesOnWhenTheQueueIsStartedAgain) {
    add({"epochs=4000"});  // a second or more: it must still train when it is stopped
    queue.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() >= 20; }, 300'000));
    commands.stop();
    ASSERT_TRUE(comesTo({QueueState::waiting}));
    queue.start();
    ASSERT_TRUE(comesTo({QueueState::done}));
    const auto runs = feed.store()->list();
    ASSERT_EQ(runs.size(), 1u) << "it is one run";
    EXPECT_EQ(runs[0].steps, 4000 * 8);
}

TEST_F(QueueRunnerTest, ARunThatDivergesHasFailedAndTheNextOneBegins) {
    add({"optimizer.lr=1e30", "stop_on_nan=3", "epochs=20"});
    add({"seed=2"});
    queue.start();
    EXPECT_TRUE(comesTo({QueueState::failed, QueueState::done}));
}

TEST_F(QueueRunnerTest, ARunWhoseDataCannotBeReadWaitsAndEndsTheQueue) {
    add({"dataset.kind=csv", "dataset.path=/nowhere.csv"});
    add({"seed=2"});
    queue.start();
    EXPECT_TRUE(comesTo({QueueState::waiting, QueueState::waiting}));
    EXPECT_TRUE(feed.store()->list().empty());
}

TEST_F(QueueRunnerTest, PausedTheRunInFlightEndsAndNoOtherOneBegins) {
    add({"epochs=300"});
    add({"seed=2"});
    queue.start();
    // Without waiting for an event: 300 epochs may be over before the window sees the first step.
    EXPECT_EQ(states()[0], QueueState::running);
    queue.pause();
    EXPECT_TRUE(comesTo({QueueState::done, QueueState::waiting}));
}

TEST_F(QueueRunnerTest, IsKeptOverARestart) {
    add({"seed=7"});
    feed.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString()));
    ASSERT_EQ(queue.runs().size(), 1u);
    EXPECT_EQ(queue.runs()[0].entry.config.seed, 7);
}

}  // namespace
}  // namespace ui
