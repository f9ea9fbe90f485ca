#include "commands/commands.h"

#include <QSemaphore>
#include <algorithm>

#include "engine/runs/checkpoint.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "engine/session/session.h"
#include "feed/run_track.h"
#include "pages/page_stack.h"
#include "panels/history/run_actions.h"
#include "widgets/elided_label.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// Stopped runs that are resumed from the window.
struct ResumeTest : WindowFixture {
    ResumeTest() {
        QObject::connect(&commands, &Commands::failed, &commands,
                         [this](const Problem& problem) { problems << problem.sentence; });
    }
    static engine::RunConfig spirals(std::int64_t steps) {
        return engine::parse_run_config(
                   "{}", {"dataset.kind=spirals", "model.kind=mlp", "dataset.train_limit=256",
                          "dataset.test_limit=64", "batch_size=32", "epochs=1000000", "device=cpu",
                          "checkpoint.every_steps=3", "max_steps=" + std::to_string(steps)})
            .config;
    }
    /// Computes some steps of a run, in a session of its own.
    engine::RunSummary begun(std::int64_t steps, int made, const std::string& group = {}) {
        engine::SessionOptions options;
        options.group = group;
        engine::Session session(spirals(steps), std::make_shared<engine::ComputeThread>(),
                                feed.store(), options);
        for (int i = 1; i <= made; ++i) {
            session.post(engine::Command::step);
            EXPECT_TRUE(QTest::qWaitFor(
                [&] {
                    const auto state = session.state();
                    const bool rests =
                        state == engine::RunState::paused || state == engine::RunState::done;
                    return session.record().size() >= i && rests;
                },
                300'000));
        }
        session.post(engine::Command::stop);
        EXPECT_TRUE(session.wait(300));
        return *feed.store()->find(session.run());
    }
    /// Empty until Commands reports whether the run is resumed.
    std::optional<bool> answered;
    void resume(const engine::RunSummary& run) {
        commands.resume(run, [this](bool begun) { answered = begun; });
    }
    bool waitForAnswer() {
        return QTest::qWaitFor([this] { return answered.has_value(); }, 300'000);
    }
    QStringList problems;
};

TEST_F(ResumeTest, TheCheckpointIsReadWhileTheWindowGoesOn) {
    const auto run = begun(12, 5);
    resume(run);
    EXPECT_FALSE(answered.has_value()) << "the call itself reads nothing";
    EXPECT_FALSE(feed.live());
    ASSERT_TRUE(waitForAnswer());
    EXPECT_TRUE(*answered);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    EXPECT_EQ(feed.store()->find(run.run)->steps, 12);
    EXPECT_EQ(feed.store()->list().size(), 1u) << "the same run went on";
    EXPECT_TRUE(problems.isEmpty()) << problems.join(u' ').toStdString();
}

TEST_F(ResumeTest, ADamagedCheckpointIsToldAndTheOneBeforeIsUsed) {
    const auto run = begun(12, 5);
    ASSERT_EQ(engine::find_checkpoint(run.folder, "last").step, 5);
    std::filesystem::resize_file(run.folder / "checkpoint-5" / "weights.safetensors", 10);
    resume(run);
    ASSERT_TRUE(waitForAnswer());
    EXPECT_TRUE(*answered);
    ASSERT_EQ(problems.size(), 1);
    EXPECT_TRUE(problems[0].contains(u"checkpoint-5"_s)) << problems[0].toStdString();
    EXPECT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
}

TEST_F(ResumeTest, ARunWhoseCheckpointsAreAllDamagedIsLeftAsItIs) {
    const auto run = begun(12, 2);
    std::filesystem::resize_file(run.folder / "checkpoint-2" / "weights.safetensors", 10);
    resume(run);
    ASSERT_TRUE(waitForAnswer());
    EXPECT_FALSE(*answered);
    ASSERT_EQ(problems.size(), 1);
    EXPECT_TRUE(problems[0].contains(u"checkpoint-2"_s)) << problems[0].toStdString();
    EXPECT_EQ(feed.store()->find(run.run)->steps, 2);
    EXPECT_FALSE(feed.live());
}

TEST_F(ResumeTest, AnOpenedFolderOfARunIsShownAlsoFromTheLab) {
    const auto run = begun(3, 3);
    commands.showPage(u"lab"_s);
    ASSERT_EQ(window->findChild<PageStack*>()->shown().name, u"lab"_s);
    commands.openPath(QString::fromStdString(run.folder.string()));
    EXPECT_EQ(window->findChild<PageStack*>()->shown().name, u"training"_s);
    EXPECT_TRUE(problems.isEmpty());
}

TEST_F(ResumeTest, ARunThatCannotGoOnSaysWhy) {
    const auto run = begun(3, 3);
    resume(run);
    ASSERT_TRUE(waitForAnswer());
    EXPECT_FALSE(*answered);
    ASSERT_EQ(problems.size(), 1);
    EXPECT_TRUE(problems[0].contains(u"has completed all of its 3 steps"_s))
        << problems[0].toStdString();
    EXPECT_FALSE(feed.live());
}

TEST_F(ResumeTest, ARunThatIsStartedInTheMeantimeComesInstead) {
    const auto run = begun(12, 5);
    resume(run);
    ASSERT_TRUE(commands.train({spirals(2)}));
    ASSERT_TRUE(waitForAnswer());
    EXPECT_FALSE(*answered);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    EXPECT_EQ(feed.store()->find(run.run)->steps, 5) << "it did not go on";
    EXPECT_EQ(feed.store()->list().size(), 2u);
}

TEST_F(ResumeTest, AComparisonIsStoppedAndResumedAsOneBesideItsRunThatHasEnded) {
    settings.load(spirals(400), {u"fp32"_s, u"amp-fp16"_s});
    commands.compare();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return feed.tracks().size() == 2 && feed.tracks()[1]->rows() > 3; }, 300'000));
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    auto runs = feed.store()->list();
    ASSERT_EQ(runs.size(), 2u);
    ASSERT_EQ(engine::group_state(runs), "stopped") << "too quick to be stopped";
    std::ranges::reverse(runs);
    EXPECT_TRUE(whyNotResumed(runs).isEmpty());
    EXPECT_EQ(nameOfRuns(runs, feed.store()->list()), u"comparison 1"_s);
    commands.resumeGroup(runs, [this](bool begun) { answered = begun; });
    ASSERT_TRUE(waitForAnswer());
    EXPECT_TRUE(*answered);
    EXPECT_EQ(feed.liveTracks().size(), 2u) << "they take turns again";
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.tracks()[1]->rows() == 400; }, 300'000));
    runs = feed.store()->list();
    ASSERT_EQ(runs.size(), 2u) << "no new runs";
    for (const auto& run : runs) EXPECT_EQ(run.steps, 400);
    EXPECT_FALSE(whyNotResumed(runs).isEmpty()) << "nothing is left";
    EXPECT_TRUE(problems.isEmpty()) << problems.join(u' ').toStdString();
}

TEST_F(ResumeTest, ARunOfAComparisonThatWasNotBegunIsBegun) {
    const auto first = begun(12, 5, "g");
    engine::GroupPlan plan;
    plan.runs.push_back({first.config});
    plan.runs.push_back({first.config});
    plan.runs.back().config.precision.preset = "amp-bf16";
    engine::keep_group_plan(first.folder, engine::group_plan_json(plan));
    commands.resume(first, [this](bool begun) { answered = begun; });
    ASSERT_TRUE(waitForAnswer());
    EXPECT_EQ(feed.liveTracks().size(), 2u);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    const auto runs = engine::runs_of_group(feed.store()->list(), "g");
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].run, first.run);
    EXPECT_EQ(runs[1].config.precision.preset, "amp-bf16");
    EXPECT_EQ(engine::group_state(runs), "done");
    EXPECT_FALSE(whyNotResumed(runs).isEmpty()) << "nothing is left";
    EXPECT_TRUE(engine::plan_of_group(std::vector{runs[1]})) << "the new run keeps the plan, too";
}

TEST_F(ResumeTest, BothHalvesOfATwinGoOnCoupledWhenOneIsResumed) {
    engine::RunConfig other = spirals(12);
    other.precision.preset = "amp-bf16";
    feed.experiment().openTwin({spirals(12), other}, engine::new_run_group(), {});
    for (int i = 1; i <= 5; ++i) {
        feed.experiment().post(engine::Command::step);
        const auto rests = [&](const std::shared_ptr<RunTrack>& track) {
            return track->published() >= i && track->state() == engine::RunState::paused;
        };
        ASSERT_TRUE(
            QTest::qWaitFor([&] { return std::ranges::all_of(feed.liveTracks(), rests); }, 300'000));
    }
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    const auto runs = feed.store()->list();
    ASSERT_EQ(runs.size(), 2u);
    ASSERT_EQ(engine::group_state(runs), "stopped");
    commands.resume(runs.back(), [this](bool begun) { answered = begun; });
    ASSERT_TRUE(waitForAnswer());
    EXPECT_TRUE(*answered) << problems.join(u' ').toStdString();
    EXPECT_EQ(feed.liveTracks().size(), 2u);
    EXPECT_NE(feed.experiment().twin(), nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    for (const auto& run : feed.store()->list()) EXPECT_EQ(run.steps, 12);
    EXPECT_EQ(engine::TwinRecordReader::open(runs.front().folder).steps(), 12);
}

TEST_F(ResumeTest, TheOfferAfterAKillNamesTheComparison) {
    engine::RunSummary first, second;
    first.run = "51";
    second.run = "52";
    first.group = second.group = "g";
    first.group_number = second.group_number = 3;
    second.steps = 120;
    second.state = first.state = "interrupted";
    const std::vector<engine::RunSummary> history = {second, first};
    EXPECT_EQ(withItsComparison(second, history).size(), 2u);
    commands.offerToResume(withItsComparison(second, history));
    auto* message = window->findChild<QFrame*>(u"message"_s);
    ASSERT_TRUE(message->isVisible());
    QStringList shown;
    for (auto* label : message->findChildren<QLabel*>()) shown << label->text();
    EXPECT_TRUE(
        shown.join(u' ').contains(u"Comparison 3 was interrupted at step 120 (runs 51, 52)."_s))
        << shown.join(u' ').toStdString();
}

TEST_F(ResumeTest, NoneGoesOnWhileAnotherOneTrains) {
    const auto run = begun(12, 5);
    ASSERT_TRUE(commands.train({spirals(1'000'000)}));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() >= 3; }, 300'000));
    resume(run);
    ASSERT_TRUE(answered.has_value());
    EXPECT_FALSE(*answered);
    EXPECT_EQ(problems.size(), 1);
    commands.stop();
    EXPECT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
}

/// A run that is started from the window, with a trial of its first steps.
struct TrialTest : WindowFixture {
    TrialTest() {
        commands.setTrialLimit(std::chrono::minutes(1));
        QObject::connect(&commands, &Commands::failed, &commands,
                         [this](const Problem& problem) { problems << problem.sentence; });
        settings.load(spirals());
    }
    static engine::RunConfig spirals(const std::vector<std::string>& more = {}) {
        std::vector<std::string> set = {"dataset.kind=spirals",
                                        "model.kind=mlp",
                                        "dataset.train_limit=64",
                                        "dataset.test_limit=32",
                                        "batch_size=32",
                                        "max_steps=2",
                                        "device=cpu",
                                        "optimizer.kind=sgd"};
        set.insert(set.end(), more.begin(), more.end());
        return engine::parse_run_config("{}", set).config;
    }
    bool ends() {
        return QTest::qWaitFor([this] { return feed.state() == engine::RunState::done; }, 300'000);
    }
    QStringList problems;
};

TEST_F(TrialTest, ALossThatGrowsIsToldAndTheRunStarts) {
    settings.load(spirals({"precision.preset=fp32", "optimizer.lr=300"}));
    std::vector<engine::LintFinding> found;
    QObject::connect(&commands, &Commands::hazardsFound, &commands,
                     [&](const engine::RunConfig&, const auto& findings) { found = findings; });
    commands.start();
    EXPECT_FALSE(commands.buttons().start.enabled);
    EXPECT_TRUE(commands.buttons().stop.enabled);
    ASSERT_TRUE(ends());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().id, "loss-grows-tenfold");
    ASSERT_EQ(problems.size(), 1);
    EXPECT_TRUE(problems[0].startsWith(u"The loss grows from "_s)) << problems[0].toStdString();
    EXPECT_EQ(feed.store()->list().size(), 1u) << "the trial leaves no run behind";
    const auto shown = [&] {
        QStringList out;
        for (auto* each : window->findChildren<ElidedLabel*>(u"finding"_s)) out << each->text();
        return out;
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return shown().contains(problems[0].chopped(1)); }, 300'000))
        << shown().join(u'|').toStdString();
}

TEST_F(TrialTest, NothingIsToldOfFirstStepsThatAreFine) {
    commands.start();
    ASSERT_TRUE(ends());
    EXPECT_TRUE(problems.isEmpty()) << problems.join(u' ').toStdString();
}

TEST_F(TrialTest, TheRunStartsWhenTheTrialTakesTooLong) {
    settings.load(spirals({"precision.preset=fp32", "optimizer.lr=300"}));
    commands.setTrialLimit(std::chrono::milliseconds(1));
    // The pool has no thread left for the trial.
    QSemaphore free;
    auto* pool = QThreadPool::globalInstance();
    for (int i = 0; i < pool->maxThreadCount(); ++i) pool->start([&] { free.acquire(); });
    commands.start();
    EXPECT_TRUE(QTest::qWaitFor([this] { return feed.live(); }, 300'000));
    free.release(pool->maxThreadCount());
    ASSERT_TRUE(ends());
    pool->waitForDone();
    standsStill();
    EXPECT_TRUE(problems.isEmpty()) << problems.join(u' ').toStdString();
    EXPECT_EQ(feed.store()->list().size(), 1u);
}

TEST_F(TrialTest, StopTakesTheStartBack) {
    commands.start();
    commands.stop();
    EXPECT_TRUE(commands.buttons().start.enabled);
    QThreadPool::globalInstance()->waitForDone();
    standsStill();
    EXPECT_FALSE(feed.live());
    EXPECT_TRUE(feed.store()->list().empty());
}

}  // namespace
}  // namespace ui
