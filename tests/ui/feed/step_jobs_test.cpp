#include "feed/step_jobs.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "engine/settings/catalog.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::CapturedStep;
using engine::Command;
using engine::RunState;

constexpr int patience = 60'000;  // ms

struct StepJobsTest : testing::Test {
    StepJobsTest() {
        feed.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString()));
    }
    static engine::RunConfig config() {
        engine::RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.schedule.kind = "constant";
        config.batch_size = 32;
        config.epochs = 100'000;
        config.threads = 1;
        return engine::completed(config);
    }
    bool reaches(RunState state) {
        return QTest::qWaitFor([&] { return feed.state() == state; }, patience);
    }
    bool idle() {
        return QTest::qWaitFor([&] { return !jobs.busy(); }, patience);
    }
    /// The number of the step; 0 if there is none.
    std::int64_t stepOf(const StepSource& source) {
        std::int64_t found = 0;
        jobs.run<std::int64_t>(
            source, std::nullopt, [](const CapturedStep& step) { return step.step(); },
            [&found](std::int64_t step, const CapturedStep&) { found = step; });
        EXPECT_TRUE(jobs.busy());
        EXPECT_TRUE(idle());
        return found;
    }

    QTemporaryDir folder;
    EventFeed feed;
    StepJobs jobs{&feed};
};

TEST_F(StepJobsTest, WithoutARunTakeTheFirstStepOfTheSettings) {
    EXPECT_EQ(stepOf({nullptr, 0, config()}), 1);
    EXPECT_EQ(jobs.problem(), QString());
}

TEST_F(StepJobsTest, OfALiveRunTakeTheStepToComeOrAnEarlierOne) {
    feed.experiment().open({config()});
    const auto track = feed.liveTracks().front();
    EXPECT_FALSE(feed.experiment().hasNextStep(track.get())) << "it has not started";
    for (std::int64_t step = 1; step <= 3; ++step) {
        feed.experiment().post(Command::step);
        ASSERT_TRUE(QTest::qWaitFor([&] { return track->rows() == step; }, patience));
        ASSERT_TRUE(reaches(RunState::paused));
        EXPECT_TRUE(feed.experiment().hasNextStep(track.get()));
        EXPECT_EQ(stepOf({track, 0, {}}), step + 1);
    }
    EXPECT_EQ(stepOf({track, 2, {}}), 2);
    feed.experiment().post(Command::stop);
    ASSERT_TRUE(reaches(RunState::done));
    EXPECT_FALSE(feed.experiment().hasNextStep(track.get()));
    EXPECT_EQ(stepOf({track, 0, {}}), 0);
    EXPECT_EQ(jobs.problem(), u"The run has ended, so there is no next step."_s);
}

TEST_F(StepJobsTest, TellWhyAJobFailed) {
    jobs.run<int>(
        {nullptr, 0, config()}, std::nullopt,
        [](const CapturedStep&) -> int {
            throw engine::Error(engine::ErrorCode::state, engine::msg("No."), engine::msg("Yes."));
        },
        [](int, const CapturedStep&) { FAIL() << "there is no result"; });
    ASSERT_TRUE(idle());
    EXPECT_EQ(jobs.problem(), u"No. Yes."_s);
}

/// The window is closed while a step of a run is requested.
TEST_F(StepJobsTest, EndWithWhoAskedForThem) {
    feed.experiment().open({config()});
    feed.experiment().post(Command::start);
    ASSERT_TRUE(reaches(RunState::training));
    {
        StepJobs passing(&feed);
        passing.run<int>(
            {feed.liveTracks().front(), 0, {}}, std::nullopt, [](const CapturedStep&) { return 1; },
            [](int, const CapturedStep&) { FAIL() << "nobody is left to take it"; });
    }
    // Long enough for the step to be captured and its result to be dropped.
    const auto track = feed.liveTracks().front();
    const std::int64_t before = track->rows();
    EXPECT_TRUE(QTest::qWaitFor([&] { return track->rows() > before + 5; }, 300'000));
    feed.experiment().post(Command::stop);
    EXPECT_TRUE(reaches(RunState::done));
}

TEST_F(StepJobsTest, SayHowFarAReplayIsAndCanBeCancelled) {
    ReplayProgress replay;
    TimeLeft left;
    EXPECT_EQ(replay.text(false, left), QString());
    replay.note(79);
    replay.note(39);
    EXPECT_TRUE(replay.text(false, left).startsWith(
        u"Computing the steps before it again: 40 of 79"_s));
    EXPECT_EQ(replay.text(true, left), u"Cancelling…"_s);
    // A job that is cancelled takes nothing, and the next one runs.
    bool taken = false;
    jobs.run<int>(
        {nullptr, 0, config()}, std::nullopt, [](const CapturedStep&) { return 1; },
        [&taken](int, const CapturedStep&) { taken = true; });
    jobs.cancel();
    ASSERT_TRUE(idle());
    EXPECT_FALSE(taken);
    EXPECT_EQ(jobs.problem(), u"Cancelled."_s);
    EXPECT_EQ(stepOf({nullptr, 0, config()}), 1);
}

/// Computing the step itself, such as tracing it, is given up as well as the way to it.
TEST_F(StepJobsTest, CanBeCancelledOrAbandonedInTheMiddleOfTheirWork) {
    const std::string file = folder.path().toStdString() + "/turn";
    const auto startEndless = [&] {
        jobs.run<int>(
            {nullptr, 0, config()}, std::nullopt,
            [file](const CapturedStep&) -> int {
                for (;;) engine::write_named_file(file, "work that looks whether it goes on");
            },
            [](int, const CapturedStep&) { FAIL() << "there is no result"; });
        return QTest::qWaitFor([&] { return QFile::exists(QString::fromStdString(file)); },
                               patience);
    };
    ASSERT_TRUE(startEndless());
    jobs.cancel();
    ASSERT_TRUE(idle());
    EXPECT_EQ(jobs.problem(), u"Cancelled."_s);
    QFile::remove(QString::fromStdString(file));
    ASSERT_TRUE(startEndless());
    jobs.abandon();
    ASSERT_TRUE(idle());
    EXPECT_EQ(jobs.problem(), QString()) << "nobody waits for it any more";
    EXPECT_EQ(stepOf({nullptr, 0, config()}), 1);
}

}  // namespace
}  // namespace ui
