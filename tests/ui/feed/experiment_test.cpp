#include "feed/experiment.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "engine/base/error.h"
#include "feed/pending_events.h"

namespace ui {
namespace {

using engine::Command;
using engine::RunState;

engine::RunConfig smallRun(const char* precision) {
    const auto parsed = engine::parse_run_config(
        R"({"dataset": {"kind": "spirals", "train_limit": 256, "test_limit": 64}, "model": {"kind": "mlp"},
            "batch_size": 32, "epochs": 1, "scaler": {"preset": "classroom"}})",
        {std::string("precision.preset=") + precision});
    EXPECT_TRUE(parsed.errors.empty());
    return parsed.config;
}

struct ExperimentTest : testing::Test {
    ExperimentTest() {
        experiment.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString()));
    }
    /// Takes events until the experiment is in this state.
    bool runUntil(RunState state) {
        return QTest::qWaitFor(
            [&] {
                experiment.drain(pending);
                experiment.updateState();
                return experiment.state() == state;
            },
            300'000);
    }

    QTemporaryDir folder;
    Experiment experiment;
    PendingEvents pending;
};

TEST(CombinedState, IsTheLiveliest) {
    EXPECT_EQ(combined({}), RunState::idle);
    EXPECT_EQ(combined({RunState::done, RunState::training}), RunState::training);
    EXPECT_EQ(combined({RunState::paused, RunState::training}), RunState::training);
    EXPECT_EQ(combined({RunState::paused, RunState::done}), RunState::paused);
    EXPECT_EQ(combined({RunState::done, RunState::failed}), RunState::done);
    EXPECT_EQ(combined({RunState::failed, RunState::failed}), RunState::failed);
    EXPECT_EQ(combined({RunState::idle, RunState::done}), RunState::idle);
}

TEST_F(ExperimentTest, StatesAndStartsTakeEffectAtOnceAndOtherEventsWaitForTheirRows) {
    QSignalSpy started(&experiment, &Experiment::runStarted);
    QSignalSpy posted(&experiment, &Experiment::posted);
    experiment.post(Command::start);
    EXPECT_EQ(posted.count(), 0) << "there is no run yet";
    experiment.open({smallRun("fp32"), smallRun("amp-fp16")});
    EXPECT_TRUE(experiment.live());
    EXPECT_FALSE(experiment.isTraining());
    experiment.post(Command::start);
    EXPECT_EQ(posted.count(), 1);
    ASSERT_TRUE(runUntil(RunState::done));
    EXPECT_EQ(started.count(), 2);
    for (const auto& track : experiment.tracks()) {
        EXPECT_EQ(track->published(), 8);
        EXPECT_EQ(track->rows(), 0) << "no frame has read any";
        EXPECT_FALSE(track->done());
    }
    EXPECT_FALSE(pending.empty());
}

TEST_F(ExperimentTest, AnotherOneReplacesIt) {
    experiment.open({smallRun("fp32"), smallRun("amp-fp16")});
    const auto first = experiment.tracks().front();
    EXPECT_TRUE(experiment.holds(first.get()));
    QSignalSpy cleared(&experiment, &Experiment::cleared);
    QSignalSpy replaced(&experiment, &Experiment::replaced);
    experiment.openTwin({smallRun("fp32"), smallRun("amp-fp16")}, {}, {});
    EXPECT_EQ(cleared.count(), 1);
    EXPECT_EQ(replaced.count(), 1);
    EXPECT_FALSE(experiment.holds(first.get()));
    EXPECT_NE(experiment.twin(), nullptr);
    experiment.end();
    EXPECT_FALSE(experiment.live());
    EXPECT_TRUE(experiment.tracks().empty());
    EXPECT_EQ(experiment.twin(), nullptr);
}

TEST(Experiment, RefusesToRunWithoutAPlaceForRuns) {
    Experiment experiment;
    EXPECT_THROW(experiment.open({engine::RunConfig{}}), engine::Error);
}

TEST_F(ExperimentTest, RefusesSettingsThatCannotRun) {
    QSignalSpy replaced(&experiment, &Experiment::replaced);
    engine::RunConfig bad;
    bad.batch_size = 0;
    EXPECT_THROW(experiment.open({bad}), engine::Error);
    EXPECT_TRUE(experiment.tracks().empty());
    EXPECT_EQ(replaced.count(), 1) << "the one before is gone";
}

}  // namespace
}  // namespace ui
