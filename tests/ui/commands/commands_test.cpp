#include "commands/commands.h"

#include "engine/checkpoint.h"
#include "engine/session.h"
#include "pages/page_stack.h"
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
                          "max_steps=" + std::to_string(steps)})
            .config;
    }
    /// Computes some steps of a run, in a session of its own.
    engine::RunSummary begun(std::int64_t steps, int made) {
        engine::Session session(spirals(steps), std::make_shared<engine::ComputeThread>(),
                                feed.store());
        for (int i = 1; i <= made; ++i) {
            session.post(engine::Command::step);
            EXPECT_TRUE(QTest::qWaitFor(
                [&] {
                    const auto state = session.state();
                    const bool rests =
                        state == engine::RunState::paused || state == engine::RunState::done;
                    return session.record().size() >= i && rests;
                },
                30'000));
        }
        session.post(engine::Command::stop);
        EXPECT_TRUE(session.wait(60));
        return *feed.store()->find(session.run());
    }
    /// Empty until Commands reports whether the run is resumed.
    std::optional<bool> answered;
    void resume(const engine::RunSummary& run) {
        commands.resume(run, [this](bool begun) { answered = begun; });
    }
    bool waitForAnswer() {
        return QTest::qWaitFor([this] { return answered.has_value(); }, 30'000);
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
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 30'000));
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
    EXPECT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 30'000));
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
    ASSERT_TRUE(commands.train(spirals(2)));
    ASSERT_TRUE(waitForAnswer());
    EXPECT_FALSE(*answered);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 30'000));
    EXPECT_EQ(feed.store()->find(run.run)->steps, 5) << "it did not go on";
    EXPECT_EQ(feed.store()->list().size(), 2u);
}

TEST_F(ResumeTest, NoneGoesOnWhileAnotherOneTrains) {
    const auto run = begun(12, 5);
    ASSERT_TRUE(commands.train(spirals(1'000'000)));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() >= 3; }, 30'000));
    resume(run);
    ASSERT_TRUE(answered.has_value());
    EXPECT_FALSE(*answered);
    EXPECT_EQ(problems.size(), 1);
    commands.stop();
    EXPECT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 30'000));
}

}  // namespace
}  // namespace ui
