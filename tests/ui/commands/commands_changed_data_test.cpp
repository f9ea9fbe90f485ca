// Runs that are resumed from the window, on data that somebody has changed since.
#include <fstream>
#include <map>

#include "commands/commands.h"
#include "engine/session/session.h"
#include "feed/run_track.h"
#include "widgets/changed_data_dialog.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct ChangedDataTest : WindowFixture {
    ChangedDataTest() {
        QObject::connect(&commands, &Commands::failed, &commands,
                         [this](const Problem& problem) { problems << problem.sentence; });
        QObject::connect(&feed, &EventFeed::eventArrived, &commands,
                         [this](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                             if (const auto* failed = std::get_if<engine::RunFailed>(&event))
                                 commands.runFailed(*failed);
                         });
    }
    std::string table() const { return folder.path().toStdString() + "/t.csv"; }
    void writeTable(int rows, int shift) const {
        std::ofstream file(table());
        file << "a,b,y\n";
        for (int i = shift; i < rows + shift; ++i)
            file << i % 7 << ".5," << i % 5 << ".25," << i % 9 << ".125\n";
    }
    /// 48 training rows, so that an epoch has six steps, of which all were made.
    engine::RunSummary begun() {
        writeTable(60, 0);
        const auto config =
            engine::parse_run_config(
                "{}", {"dataset.kind=csv", "dataset.path=" + table(), "model.kind=mlp",
                       "batch_size=8", "epochs=3", "device=cpu", "threads=1"})
                .config;
        engine::Session session(config, std::make_shared<engine::ComputeThread>(), feed.store());
        for (int i = 1; i <= 6; ++i) {
            session.post(engine::Command::step);
            EXPECT_TRUE(waitFor([&] {
                return session.record().size() >= i && session.state() == engine::RunState::paused;
            }));
        }
        session.post(engine::Command::stop);
        EXPECT_TRUE(session.wait(300));
        return *feed.store()->find(session.run());
    }
    /// Resumes the run and returns what the window asks; null if it does not.
    ChangedDataDialog* asked(const engine::RunSummary& run) {
        commands.resume(run);
        EXPECT_TRUE(waitFor([&] { return !problems.isEmpty(); }));
        EXPECT_TRUE(waitFor([&] { return feed.state() == engine::RunState::failed; }));
        return window->findChild<ChangedDataDialog*>();
    }
    static bool says(const ChangedDataDialog* dialog, const QString& words) {
        return dialog->accessibleDescription().contains(words);
    }
    bool isDone() {
        return waitFor([&] { return feed.state() == engine::RunState::done; });
    }
    QStringList problems;
};

TEST_F(ChangedDataTest, TheWindowAsksAndTheRunGoesOnWithThem) {
    const auto run = begun();
    writeTable(60, 1);
    auto* dialog = asked(run);
    ASSERT_NE(dialog, nullptr);
    EXPECT_TRUE(says(dialog, u"1 file changed (t.csv)"_s))
        << dialog->accessibleDescription().toStdString();
    EXPECT_EQ(feed.store()->find(run.run)->steps, 6) << "nothing was written";
    dialog->accept();
    ASSERT_TRUE(isDone());
    EXPECT_EQ(feed.store()->find(run.run)->steps, 18);
    EXPECT_EQ(feed.store()->list().size(), 1u) << "the same run";
}

TEST_F(ChangedDataTest, WithAnotherNumberOfSamplesItIsANewRunWhoseEventsAreShownOnce) {
    const auto run = begun();
    writeTable(40, 0);
    auto* dialog = asked(run);
    ASSERT_NE(dialog, nullptr);
    EXPECT_TRUE(says(dialog, u"goes on as a new run"_s));
    dialog->accept();
    ASSERT_TRUE(isDone());
    EXPECT_EQ(feed.store()->find(run.run)->steps, 6);
    ASSERT_EQ(feed.store()->list().size(), 2u);
    ASSERT_TRUE(ends(1));
    std::map<std::int64_t, int> evaluations;
    for (const auto& event : feed.tracks().front()->events())
        if (const auto* epoch = std::get_if<engine::EpochDone>(&event)) ++evaluations[epoch->step];
    EXPECT_FALSE(evaluations.empty());
    for (const auto& [step, times] : evaluations) EXPECT_EQ(times, 1) << step;
}

TEST_F(ChangedDataTest, LeftAloneTheRunStaysAsItWas) {
    const auto run = begun();
    writeTable(60, 1);
    auto* dialog = asked(run);
    ASSERT_NE(dialog, nullptr);
    dialog->reject();
    EXPECT_EQ(feed.state(), engine::RunState::failed);
    EXPECT_EQ(feed.store()->find(run.run)->state, "stopped");
    // Another experiment has taken its place: there is nothing left to go on with.
    writeTable(60, 0);
    engine::RunConfig other = run.config;
    other.max_steps = 2;
    commands.train({other});
    ASSERT_TRUE(isDone());
    commands.goOnWithData();
    EXPECT_EQ(feed.state(), engine::RunState::done);
    EXPECT_EQ(feed.store()->find(run.run)->state, "stopped");
}

TEST_F(ChangedDataTest, OtherColumnsAreNoQuestion) {
    const auto run = begun();
    std::ofstream(table()) << "a,y\n1.5,2.5\n2.5,3.5\n3.5,1.5\n";
    EXPECT_EQ(asked(run), nullptr);
    EXPECT_TRUE(problems[0].contains(u"no longer has the columns"_s)) << problems[0].toStdString();
}

}  // namespace
}  // namespace ui
