#include "feed/event_feed.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "feed/run_track.h"
#include "support/foreign_run.h"
#include "support/stillness.h"

namespace ui {
namespace {

using engine::Command;
using engine::RunState;

engine::RunConfig quick(const char* precision) {
    const auto parsed = engine::parse_run_config(
        R"({"dataset": {"kind": "spirals", "train_limit": 256, "test_limit": 64}, "model": {"kind": "mlp"},
            "batch_size": 32, "epochs": 3, "scaler": {"preset": "classroom"}})",
        {std::string("precision.preset=") + precision});
    EXPECT_TRUE(parsed.errors.empty());
    return parsed.config;
}

struct EventFeedTest : testing::Test {
    void SetUp() override {
        feed.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString()));
    }
    bool runUntil(RunState state) {
        return QTest::qWaitFor([&] { return feed.state() == state; }, 300'000);
    }
    QTemporaryDir folder;
    EventFeed feed;
};

TEST_F(EventFeedTest, BringsEveryStepOfAComparisonAndItsEvents) {
    std::size_t epochs = 0;
    QObject::connect(&feed, &EventFeed::eventArrived, &feed,
                     [&](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                         epochs += std::holds_alternative<engine::EpochDone>(event) ? 1 : 0;
                     });
    feed.experiment().open({quick("fp32"), quick("amp-fp16")});
    feed.experiment().post(Command::start);
    ASSERT_TRUE(runUntil(RunState::done));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return feed.tracks()[0]->rows() == 24 && feed.tracks()[1]->rows() == 24; }, 300'000));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return feed.tracks()[0]->done() && feed.tracks()[1]->done(); }, 300'000));
    EXPECT_EQ(epochs, 6u);
    EXPECT_FALSE(feed.tracks()[0]->hasScaler());
    EXPECT_TRUE(feed.tracks()[1]->hasScaler());
    EXPECT_EQ(feed.tracks()[1]->done()->steps, 24);
}

TEST_F(EventFeedTest, GoesStepByStep) {
    feed.experiment().open({quick("amp-fp16")});
    feed.experiment().post(Command::step);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.tracks()[0]->rows() == 1; }, 300'000));
    ASSERT_TRUE(runUntil(RunState::paused));
    feed.experiment().post(Command::step);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.tracks()[0]->rows() == 2; }, 300'000));
    feed.experiment().post(Command::stop);
    ASSERT_TRUE(runUntil(RunState::done));
}

TEST_F(EventFeedTest, EndsWhileTraining) {
    auto other = std::make_unique<EventFeed>();
    other->setStore(feed.store());
    auto config = quick("amp-fp16");
    config.epochs = 100'000;
    other->experiment().open({config, config});
    other->experiment().post(Command::start);
    ASSERT_TRUE(QTest::qWaitFor([&] { return other->tracks()[0]->rows() > 10; }, 300'000));
    other.reset();  // joins the thread; a hang would be a failure
}

TEST_F(EventFeedTest, LaysStoredRunsOverOneAnother) {
    feed.experiment().open({quick("fp32"), quick("amp-fp16")});
    feed.experiment().post(Command::start);
    ASSERT_TRUE(runUntil(RunState::done));
    EventFeed later;
    later.setStore(feed.store());
    const auto runs = feed.store()->list();
    ASSERT_EQ(runs.size(), 2u);
    later.showStored(runs);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return later.tracks()[0]->rows() == 24 && later.tracks()[1]->rows() == 24; },
        300'000));
    EXPECT_EQ(later.tracks()[0]->epochs().size(), 3u);
    later.showStored({});
    EXPECT_TRUE(later.tracks().empty());
}

TEST_F(EventFeedTest, ReadsAStoredRunHoweverLateTheWindowCanPaint) {
    feed.experiment().open({quick("fp32")});
    feed.experiment().post(Command::start);
    ASSERT_TRUE(runUntil(RunState::done));
    EventFeed later;
    later.setStore(feed.store());
    bool canPaint = false;
    later.setPainter([&] { return canPaint; });
    later.showStored(feed.store()->list());
    standsStill(100);
    EXPECT_EQ(later.tracks()[0]->rows(), 0);
    canPaint = true;
    EXPECT_TRUE(QTest::qWaitFor([&] { return later.tracks()[0]->rows() == 24; }, 300'000));
}

TEST_F(EventFeedTest, SaysThatAnotherProgramCutARecordShortAndShowsTheRest) {
    feed.experiment().open({quick("fp32"), quick("amp-fp16")});
    feed.experiment().post(Command::start);
    ASSERT_TRUE(runUntil(RunState::done));
    EventFeed later;
    later.setStore(feed.store());
    int warnings = 0;
    QObject::connect(&later, &EventFeed::eventArrived, &later,
                     [&](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                         const auto* warning = std::get_if<engine::RunWarning>(&event);
                         if (warning == nullptr) return;
                         ++warnings;
                         EXPECT_NE(warning->message.str().find("steps.rec"), std::string::npos);
                     });
    const auto runs = feed.store()->list();
    later.showStored(runs);
    std::filesystem::resize_file(runs[0].folder / "steps.rec", 0);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return later.tracks()[1]->rows() == 24 && warnings > 0; }, 300'000));
    const auto cut = later.tracks()[0];
    EXPECT_EQ(cut->series(&engine::StepRecord::loss).total(0, cut->rows()).finite, 0u);
    EXPECT_EQ(cut->latest().step, 0);
    standsStill(100);
    EXPECT_EQ(warnings, 1) << "once";
}

struct FollowedFeedTest : EventFeedTest {
    engine::RunSummary entered() { return feed.store()->enter(foreign.folder()); }
    bool rowsAre(std::int64_t rows) {
        return QTest::qWaitFor([&] { return feed.tracks().front()->rows() == rows; }, 300'000);
    }

    ForeignRun foreign{quick("amp-fp16")};
};

TEST_F(FollowedFeedTest, ARunOfAnotherProcessGrowsOnScreenToItsEnd) {
    QSignalSpy ended(&feed, &EventFeed::followedEnded);
    int dones = 0;
    QObject::connect(&feed, &EventFeed::eventArrived, &feed,
                     [&](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                         dones += std::holds_alternative<engine::RunDone>(event) ? 1 : 0;
                     });
    feed.showStored({entered()});
    ASSERT_EQ(feed.tracks().size(), 1u);
    const auto track = feed.tracks().front();
    EXPECT_TRUE(QTest::qWaitFor([&] { return track->state() == RunState::paused; }, 300'000))
        << "as its process is";
    EXPECT_EQ(feed.statusTracks(), feed.tracks());
    EXPECT_FALSE(feed.live()) << "nothing of it can be stopped from here";
    ASSERT_TRUE(rowsAre(5));
    foreign.write(9);
    ASSERT_TRUE(rowsAre(9));
    EXPECT_EQ(track->latest().loss, foreign.writer.record().row(8).loss);
    foreign.writer.post(Command::resume);
    ASSERT_TRUE(QTest::qWaitFor([&] { return ended.count() == 1; }, 300'000));
    EXPECT_TRUE(QTest::qWaitFor([&] { return dones == 1; }, 300'000));
    EXPECT_EQ(track->rows(), 24);
    EXPECT_EQ(track->epochs().size(), 3u);
    EXPECT_EQ(track->state(), RunState::done);
    EXPECT_TRUE(track->done().has_value());
}

TEST_F(FollowedFeedTest, ItStaysOnScreenBesideARunOfOurOwn) {
    feed.showStored({entered()});
    ASSERT_TRUE(rowsAre(5));
    const auto followed = feed.tracks().front();
    feed.experiment().open({quick("fp32")});
    feed.experiment().post(Command::start);
    ASSERT_TRUE(runUntil(RunState::done));
    ASSERT_EQ(feed.tracks().size(), 2u);
    EXPECT_EQ(feed.tracks()[1], followed);
    foreign.write(7);
    EXPECT_TRUE(QTest::qWaitFor([&] { return followed->rows() == 7; }, 300'000));
    EXPECT_EQ(feed.statusTracks(), feed.liveTracks()) << "the status line shows our own";
    feed.showStored({});
    EXPECT_EQ(feed.tracks().size(), 1u) << "and it can be taken off";
}

}  // namespace
}  // namespace ui
