#include "feed/stored_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "feed/pending_events.h"
#include "support/foreign_run.h"

namespace ui {
namespace {

using engine::RunState;

engine::RunConfig fewSteps() {
    const auto parsed = engine::parse_run_config(
        R"({"dataset": {"kind": "spirals", "train_limit": 256, "test_limit": 64}, "model": {"kind": "mlp"},
            "batch_size": 32, "epochs": 1})",
        {});
    EXPECT_TRUE(parsed.errors.empty());
    return parsed.config;
}

struct StoredRunsTest : testing::Test {
    engine::RunSummary trained() {
        engine::Session session(fewSteps(), std::make_shared<engine::ComputeThread>(), store, {});
        session.post(engine::Command::start);
        EXPECT_TRUE(session.wait(300));
        return store->find(session.run()).value_or(engine::RunSummary{});
    }

    QTemporaryDir folder;
    std::shared_ptr<engine::RunStore> store =
        std::make_shared<engine::RunStore>(folder.path().toStdString());
    StoredRuns runs;
    PendingEvents pending;
};

TEST_F(StoredRunsTest, ARunThatEndedComesWithAllItsEvents) {
    runs.show({trained()}, *store);
    ASSERT_EQ(runs.tracks().size(), 1u);
    EXPECT_EQ(runs.tracks()[0]->state(), RunState::done);
    EXPECT_EQ(runs.tracks()[0]->published(), 8);
    EXPECT_EQ(runs.tracks()[0]->epochs().size(), 1u);
    EXPECT_FALSE(runs.follows());
    EXPECT_FALSE(runs.drain(pending).any);
}

TEST_F(StoredRunsTest, ARunThatIsBeingWrittenIsFollowedToItsEnd) {
    ForeignRun foreign(fewSteps());
    const auto entered = store->enter(foreign.folder());
    runs.show({entered}, *store);
    const auto track = runs.tracks().at(0);
    EXPECT_TRUE(track->followed);
    EXPECT_EQ(track->run(), entered.run) << "its name in this history";
    const auto isPaused = [&] {
        runs.drain(pending);
        return track->state() == RunState::paused;
    };
    EXPECT_TRUE(QTest::qWaitFor(isPaused, 300'000)) << "as its process is";
    EXPECT_TRUE(track->writer.is_there);
    EXPECT_EQ(track->writer.host, "") << "this machine";
    runs.show({trained(), entered}, *store);
    EXPECT_EQ(runs.tracks().at(1), track) << "it stays as it is";
    runs.keepFollowed();
    EXPECT_EQ(runs.tracks(), TrackList{track});
    foreign.writer.post(engine::Command::resume);
    bool ended = false;
    EXPECT_TRUE(
        QTest::qWaitFor([&] { return ended = runs.drain(pending).ended || ended; }, 300'000));
    EXPECT_FALSE(runs.follows());
    EXPECT_EQ(track->state(), RunState::done) << "states do not wait for rows";
    EXPECT_FALSE(track->done()) << "other events do";
    EXPECT_FALSE(pending.empty());
}

TEST_F(StoredRunsTest, ARunOfAnotherMachineSaysWhichItIs) {
    ForeignRun foreign(fewSteps());
    // A lease above that of the session, as if that machine had taken the run over.
    std::ofstream(foreign.folder() / "lease.7")
        << R"({"id":"x","host":"node7","boot":"b","pid_namespace":1,"process":12,"started":3})";
    runs.show({store->enter(foreign.folder())}, *store);
    const auto track = runs.tracks().at(0);
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            runs.drain(pending);
            return track->writer.host == "node7";
        },
        300'000));
    EXPECT_EQ(track->writer.process, 12);
}

TEST_F(StoredRunsTest, ARecordThatIsNoneIsAnErrorAndChangesNothing) {
    ForeignRun foreign(fewSteps());
    const auto entered = store->enter(foreign.folder());
    const auto whole = trained();
    runs.show({whole}, *store);
    const TrackList before = runs.tracks();
    std::filesystem::resize_file(foreign.folder() / "steps.rec", 100);
    EXPECT_THROW(runs.show({whole, entered}, *store), engine::Error);
    EXPECT_EQ(runs.tracks(), before);
    EXPECT_FALSE(runs.follows());
}

}  // namespace
}  // namespace ui
