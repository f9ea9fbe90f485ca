// Eleven runs: each figure, read from every place that shows it, is the same one.
#include "engine/record/figures.h"

#include <gtest/gtest.h>

#include <QProcess>
#include <QProcessEnvironment>

#include "scenario/figures_fixture.h"
#include "twin/loss_gap.h"
#include "twin/twin_model.h"

namespace ui {
namespace {

/// 30 steps of a loss that falls; the scale doubles once, and the last of three skips is at step 25.
constexpr char watchedTraining[] = R"(
import sys, halftone_watch
watch = halftone_watch.Watch(sys.argv[1], model="MLP", dataset="Spirals", metrics=["accuracy"],
                             precision="amp-fp16", batch_size=8, train_samples=80, test_samples=8)
scale = 2048.0
with watch:
    for step in range(1, 31):
        bad = step in (3, 4, 25)
        watch.step(1 / step, samples=8, accuracy=0.5, lr=0.1, loss_scale=scale, found_inf=bad,
                   grad_norm=float("inf") if bad else 0.5)
        scale = scale / 2 if bad else scale * 2 if step == 15 else scale
        if step % 10 == 0:
            watch.epoch(test_loss=2 / step, test_accuracy=0.75)
)";

/// The first Python that has NumPy; empty if there is none.
QString pythonWithNumpy() {
    for (const QString& python : {u"python3"_s, u"/usr/bin/python3"_s}) {
        QProcess asked;
        asked.start(python, {u"-c"_s, u"import numpy"_s});
        if (asked.waitForFinished(30'000) && asked.exitStatus() == QProcess::NormalExit &&
            asked.exitCode() == 0)
            return python;
    }
    return {};
}

struct FiguresTest : FiguresFixture {};

TEST_F(FiguresTest, OfEachKindOfScaler) {
    check(train(settingsOf({"precision.scaler=static", "scaler.init_scale=16777216"})));
    check(train(settingsOf({"precision.preset=fp32"})));
    // The last step is skipped: what counts is the lowered scale.
    const RunSummary run =
        train(settingsOf({"scaler.init_scale=1152921504606846976", "max_steps=3"}));
    const KeyFigures now = engine::figures_of_run(run.folder);
    EXPECT_EQ(now.skipped, 3);
    EXPECT_EQ(now.scale_now, now.loss_scale / 2);
    check(run);
}

TEST_F(FiguresTest, OfRunsThatWereResumedTwiceOrDiverged) {
    const auto config = settingsOf({"max_steps=2000", "epochs=1000"});
    RunSummary run = train(config, {}, 5);
    const std::int64_t first = run.steps;
    run = resumed(run, first + 5);
    run = resumed(run, run.steps + 5);
    EXPECT_GE(run.steps, first);
    check(run);
    check(train(settingsOf({"precision.preset=fp32", "optimizer.lr=1e30", "stop_on_nan=4"})));
}

TEST_F(FiguresTest, OfOtherTasks) {
    const auto csv = written(u"prices.csv"_s, {}, 300).toStdString();
    check(train(settingsOf({"dataset.kind=csv", "dataset.path=" + csv, "dataset.train_limit=0",
                            "dataset.test_limit=0"})));
    const auto text = written(u"story.txt"_s, "the cat sat on the mat.\n", 400).toStdString();
    check(train(settingsOf({"dataset.kind=text-chars", "dataset.path=" + text, "model.kind=rnn-lm",
                            "model.options.hidden=16", "batch_size=8", "max_steps=8",
                            "dataset.train_limit=0", "dataset.test_limit=0"})));
    check(train(settingsOf({"dataset.kind=glyphs", "model.kind=dcgan", "model.options.channels=4",
                            "batch_size=4", "dataset.train_limit=16", "dataset.test_limit=8",
                            "max_steps=3"})));
}

TEST_F(FiguresTest, OfAnImportedRunAndOneOfAnotherFolder) {
    const RunSummary own = train(settingsOf({}));
    const auto archive = folder.filePath(u"one.run"_s).toStdString();
    engine::export_run_file(own.folder, archive);
    const auto imported = feed.store()->find(feed.store()->import_run(archive).run);
    ASSERT_TRUE(imported);
    check(*imported);
    // Another history's run.
    QTemporaryDir elsewhere;
    const auto copy = std::filesystem::path(elsewhere.path().toStdString()) / "run";
    std::filesystem::copy(own.folder, copy, std::filesystem::copy_options::recursive);
    check(feed.store()->enter(copy));
}

/// A training of another program, written by the Python package as it goes on.
TEST_F(FiguresTest, OfAWatchedRun) {
    const QString python = pythonWithNumpy();
    if (python.isEmpty()) GTEST_SKIP() << "there is no Python with NumPy";
    const QString run = folder.filePath(u"watched"_s);
    QProcess training;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(u"PYTHONPATH"_s, QStringLiteral(HALFTONE_SOURCE_DIR "/resources/python"));
    environment.insert(u"PYTHONDONTWRITEBYTECODE"_s, u"1"_s);
    training.setProcessEnvironment(environment);
    training.start(python, {u"-c"_s, QString::fromLatin1(watchedTraining), run});
    ASSERT_TRUE(training.waitForFinished(300'000));
    ASSERT_EQ(training.exitCode(), 0) << training.readAllStandardError().toStdString();
    const RunSummary watched = feed.store()->enter(run.toStdString());
    const KeyFigures now = engine::figures_of_run(watched.folder);
    EXPECT_EQ(now.steps, 30);
    EXPECT_EQ(now.skipped, 3);
    EXPECT_EQ(now.scale_now, 512);
    check(watched);
}

/// Figures that a twin shares with the verdict and with both runs.
TEST_F(FiguresTest, OfATwin) {
    settings.load(settingsOf({}), {u"fp32"_s, u"amp-fp16"_s});
    commands.startTwin({});
    ASSERT_TRUE(ends(2));
    window->findChild<PageStack*>()->showPage(u"twin"_s);
    const auto* model = window->findChild<TwinModel*>();
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->steps() == 24; }, 300'000));
    standsStill();
    const auto tracks = feed.tracks();
    const engine::Verdict verdict = judgeTracks(*tracks[0], *tracks[1]);
    QString text = textOf(shownPage());
    EXPECT_TRUE(text.contains(engineText(verdict.headline).toHtmlEscaped())) << text.toStdString();
    ASSERT_FALSE(verdict.evidence.empty());
    EXPECT_TRUE(text.contains(engineText(verdict.evidence.front()).toHtmlEscaped()));
    const double gap = tracks[1]->figures().loss_last_20 - tracks[0]->figures().loss_last_20;
    const auto* plot = window->findChild<LossGap*>();
    EXPECT_NEAR(plot->gap(), gap, 1e-6 * std::abs(tracks[0]->figures().loss_last_20));
    EXPECT_TRUE(plot->accessibleDescription().startsWith(u"Gap %1,"_s.arg(significant(plot->gap()))));
    EXPECT_EQ(tracks[0]->figures().skipped, 0);
}

TEST_F(FiguresTest, OfARunThatTrains) {
    feed.experiment().open({settingsOf({"max_steps=100000", "epochs=10000"})});
    feed.experiment().post(engine::Command::start);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks().front()->rows() > 30; }, 300'000));
    feed.experiment().post(engine::Command::pause);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::paused; }, 300'000));
    const auto track = feed.tracks().front();
    const std::filesystem::path kept = track->started()->folder;
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {  // rows, and the evaluation between them
            const KeyFigures stored = engine::figures_of_run(kept);
            return track->rows() == stored.steps &&
                   track->figures().evaluated_at == stored.evaluated_at;
        },
        300'000));
    const auto run = feed.store()->find(track->run());
    ASSERT_TRUE(run);
    const KeyFigures now = engine::figures_of_run(run->folder);
    EXPECT_EQ(track->rows(), now.steps);
    checkTrack(*track, now);
    checkCard(*track, now);
    checkEvidence(*track, now);
    checkRunsPage(*run, now);
    checkReports(*run, *track, now);
    // The Runs panel follows the run while it trains.
    const auto* panel = window->findChild<HistoryPanel*>();
    ASSERT_TRUE(panel->isVisible());
    const auto metric = primaryMetric(track->metrics());
    const QString tested = metricValue(metric, valueOf(now.test, metric));
    const auto panelShows = [&] {
        const QModelIndex row = panel->model()->index(0, 0);
        return row.data(RunListModel::MetricRole).toString() == tested &&
               row.data(Qt::ToolTipRole)
                   .toString()
                   .contains(u"%1 steps, %2 skipped"_s.arg(count(now.steps), count(now.skipped)));
    };
    EXPECT_TRUE(QTest::qWaitFor(panelShows, 300'000))
        << panel->model()->index(0, 0).data(Qt::ToolTipRole).toString().toStdString();
    // The status line.
    const auto shows = [&](const QString& text) {
        return QTest::qWaitFor(
            [&] {
                return std::ranges::any_of(
                    window->findChild<StatusLine*>()->findChildren<QLabel*>(),
                    [&](const QLabel* label) { return label->text() == text; });
            },
            300'000);
    };
    EXPECT_TRUE(shows(significant(now.samples_per_s) + u' ' + speedUnit(track->unit())));
    EXPECT_TRUE(shows(u"mean %1/step"_s.arg(milliseconds(now.step_ms))));
    feed.experiment().post(engine::Command::stop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
}

}  // namespace
}  // namespace ui
