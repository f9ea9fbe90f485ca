// Eleven runs: each figure, read from every place that shows it, is the same one.
#include <gtest/gtest.h>

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/export.h"
#include "engine/figures.h"
#include "engine/report.h"
#include "feed/track_verdict.h"
#include "models/event_model.h"
#include "models/run_list_model.h"
#include "panels/evidence_table.h"
#include "panels/history_panel.h"
#include "panels/run_card.h"
#include "panels/status_line.h"
#include "panels/step_panel.h"
#include "report/report_page.h"
#include "support/trained_runs.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/metric_text.h"
#include "text/run_text.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::KeyFigures;
using engine::RunSummary;

struct FiguresTest : TrainedRuns {
    /// All places that show figures of this run.
    void check(const RunSummary& run) {
        SCOPED_TRACE("run " + run.run);
        const KeyFigures now = engine::figures_of_run(run.folder);
        ASSERT_GT(now.steps, 0);
        const auto track = open(run);
        checkTrack(*track, now);
        checkCard(*track, now);
        checkEvidence(*track, now);
        checkSelectedStep(*track, now);
        checkEvents(*track, now);
        checkReports(run, *track, now);
        checkRunsPage(run, now);
        checkFiles(run, now);
    }

    static void checkTrack(const RunTrack& track, const KeyFigures& now) {
        const KeyFigures shown = track.figures();
        const auto same = [](double a, double b) {
            return a == b || (std::isnan(a) && std::isnan(b));
        };
        EXPECT_TRUE(same(shown.loss_last_20, now.loss_last_20));
        EXPECT_TRUE(same(shown.test.loss, now.test.loss));
        EXPECT_TRUE(same(shown.samples_per_s, now.samples_per_s));
        EXPECT_TRUE(same(shown.scale_now, now.scale_now));
        EXPECT_EQ(shown.peak_bytes, now.peak_bytes);
        EXPECT_EQ(shown.growths, now.growths);
        // Skips and the selected step ask for the scale behind a step.
        EXPECT_TRUE(same(track.scaleAfter(now.steps), now.scale_now));
    }

    QString cardValue(const QString& caption) const {
        for (const auto* card : window->findChildren<RunCard*>()) {
            for (const auto* label : card->findChildren<QLabel*>())
                if (label->accessibleName().endsWith(u' ' + caption)) return label->text();
        }
        return u"(no such figure)"_s;
    }

    QStringList expectedCard(const RunTrack& track, const KeyFigures& now) const {
        const auto metric = primaryMetric(track.metrics());
        return {significant(now.loss_last_20), metricValue(metric, valueOf(now.test, metric)),
                measured(now.samples_per_s, significant), bytes(now.peak_bytes)};
    }

    void checkCard(const RunTrack& track, const KeyFigures& now) const {
        const auto captions = figureCaptions(track.metrics(), track.unit());
        EXPECT_EQ(captions[0], u"loss, last 20"_s);
        const QStringList expected = expectedCard(track, now);
        // Cards are written at most ten times a second.
        const auto value = [&](int i) { return cardValue(captions[static_cast<std::size_t>(i)]); };
        std::ignore = QTest::qWaitFor(
            [&] {
                return QStringList{value(0), value(1), value(2), value(3)} == expected;
            },
            2000);
        for (int i = 0; i < 4; ++i) EXPECT_EQ(value(i).toStdString(), expected[i].toStdString());
    }

    void checkEvidence(const RunTrack& track, const KeyFigures& now) const {
        const auto captions = figureCaptions(track.metrics(), track.unit());
        const QStringList expected = expectedCard(track, now);
        QStringList found;
        for (const QStringList& row : rowsOf(evidenceTable(track, track, {}))) {
            for (int i = 0; i < 4; ++i) {
                if (row.front() != captions[static_cast<std::size_t>(i)]) continue;
                EXPECT_EQ(row[1].toStdString(), expected[i].toStdString());
                EXPECT_EQ(row[2], row[1]);
                found << row.front();
            }
            if (row.front() == u"skipped"_s) {
                EXPECT_EQ(row[1], count(now.skipped));
            }
            if (row.front() == u"steps"_s) {
                EXPECT_EQ(row[1], count(now.steps));
            }
        }
        EXPECT_EQ(found.size(), 4);
    }

    void checkSelectedStep(const RunTrack& track, const KeyFigures& now) {
        link.select(now.steps);
        QTest::qWait(20);
        QString text;
        for (const auto* label : window->findChild<StepPanel*>()->findChildren<QLabel*>())
            text += label->text() + u'\n';
        EXPECT_TRUE(text.contains(significant(now.loss))) << text.toStdString();
        if (track.hasScaler() && now.scale_now < now.loss_scale) {
            EXPECT_TRUE(text.contains(powerOfTwo(now.scale_now))) << text.toStdString();
        }
    }

    void checkEvents(const RunTrack& track, const KeyFigures& now) const {
        if (!track.done()) return;
        EventModel events;
        events.reset({feed.tracks().front()});
        QString all;
        for (int row = 0; row < events.rowCount(); ++row) {
            all += events.index(row).data(EventModel::WhatRole).toString() + u' ' +
                   events.index(row).data(EventModel::MeaningRole).toString() + u'\n';
        }
        EXPECT_TRUE(
            all.contains(u"%1 steps, %2 skipped"_s.arg(count(now.steps), count(now.skipped))))
            << all.toStdString();
        const auto metric = primaryMetric(track.metrics());
        const QString value = metricValue(metric, valueOf(now.test, metric));
        if (!metric.key.empty() && now.evaluated_at > 0) {
            EXPECT_TRUE(all.contains(u' ' + value)) << all.toStdString();
        }
    }

    void checkReports(const RunSummary& run, const RunTrack& track, const KeyFigures& now) const {
        const auto rows = rowsOf(reportPage(feed.tracks(), {}, {}));
        ASSERT_GE(rows.size(), 2u);
        const auto cell = [&](const QString& head) {
            const auto at = rows[0].indexOf(head);
            return at < 0 ? u"(no column %1)"_s.arg(head) : rows[1].value(at);
        };
        EXPECT_EQ(cell(u"test loss"_s), measured(now.test.loss, significant));
        EXPECT_EQ(cell(u"time per step"_s), measured(now.step_ms, milliseconds));
        EXPECT_EQ(cell(speedUnit(track.unit())), measured(now.samples_per_s, significant));
        EXPECT_EQ(cell(u"peak memory"_s), bytes(now.peak_bytes));
        EXPECT_EQ(cell(u"steps"_s), count(now.steps));
        EXPECT_EQ(cell(u"updates"_s), count(now.updates));
        EXPECT_EQ(cell(u"skipped"_s), count(now.skipped));
        EXPECT_EQ(cell(u"growths"_s), count(now.growths));
        const auto listed = engine::read_run_folder(run.folder);
        ASSERT_TRUE(listed);
        std::map<std::string, std::string> found;
        for (const auto& row : engine::make_report({*listed}).runs.rows)
            found[row[0].str()] = row[1].str();
        EXPECT_EQ(found["Steps"], count(now.steps).toStdString());
        EXPECT_EQ(found["Skipped steps"], count(now.skipped).toStdString());
        EXPECT_EQ(found["Growths of the loss scale"], count(now.growths).toStdString());
        EXPECT_NEAR(std::stod(found["Time per step"]), now.step_ms, 1e-3 * now.step_ms);
        EXPECT_NEAR(std::stod(found["Training time"]), now.train_s, 1e-3 * now.train_s);
        EXPECT_NEAR(std::stod(found["Peak memory"]) * 1e6, static_cast<double>(now.peak_bytes),
                    1e-3 * static_cast<double>(now.peak_bytes));
    }

    static void checkRunsPage(const RunSummary& run, const KeyFigures& now) {
        EXPECT_EQ(run.steps, now.steps);
        EXPECT_EQ(run.skipped, now.skipped);
        EXPECT_EQ(run.peak_bytes, now.peak_bytes);
        EXPECT_DOUBLE_EQ(run.wall_s, now.train_s);
        EXPECT_DOUBLE_EQ(run.samples_per_s, now.samples_per_s);
        EXPECT_TRUE(run.test.loss == now.test.loss || std::isnan(now.test.loss));
        const auto fields = engine::run_fields(std::span(&run, 1));
        const auto shown = [&](const char* name) {
            return fieldText(run, *engine::find_run_field(fields, name));
        };
        EXPECT_TRUE(shown("samples_per_s").startsWith(significant(now.samples_per_s)));
        EXPECT_TRUE(shown("peak_bytes").startsWith(bytes(now.peak_bytes)));
        EXPECT_EQ(shown("skipped"), count(now.skipped));
    }

    void checkFiles(const RunSummary& run, const KeyFigures& now) const {
        const QJsonObject show =
            QJsonDocument::fromJson(QByteArray::fromStdString(engine::show_json_line(run, now)))
                .object();
        EXPECT_EQ(show[u"peak_bytes"_s].toDouble(), static_cast<double>(now.peak_bytes));
        EXPECT_DOUBLE_EQ(show[u"samples_per_s"_s].toDouble(), now.samples_per_s);
        EXPECT_DOUBLE_EQ(show[u"wall_s"_s].toDouble(), now.train_s);
        const QString csv = folder.filePath(u"out.csv"_s);
        engine::export_csv(run.folder, csv.toStdString());
        QFile file(csv);
        ASSERT_TRUE(file.open(QIODevice::ReadOnly));
        const auto lines = file.readAll().trimmed().split('\n');
        EXPECT_FALSE(lines.join('\n').contains("-nan"));
        const auto heads = lines.front().split(','), last = lines.back().split(',');
        const auto cell = [&](const char* name) {
            return last.value(heads.indexOf(name)).toDouble();
        };
        EXPECT_EQ(cell("step"), static_cast<double>(now.steps));
        EXPECT_EQ(cell("updates"), static_cast<double>(now.updates));
        EXPECT_EQ(cell("peak_bytes"), static_cast<double>(now.peak_bytes));
        EXPECT_NEAR(cell("samples") / cell("elapsed_s"), now.samples_per_s,
                    1e-9 * now.samples_per_s);
    }
};

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
    engine::export_run(own.folder, engine::ExportFormat::run, archive);
    const auto imported = feed.store()->find(feed.store()->import_run(archive).run);
    ASSERT_TRUE(imported);
    check(*imported);
    // Watched: another history's run.
    QTemporaryDir elsewhere;
    const auto copy = std::filesystem::path(elsewhere.path().toStdString()) / "run";
    std::filesystem::copy(own.folder, copy, std::filesystem::copy_options::recursive);
    const auto watched = engine::read_run_folder(copy);
    ASSERT_TRUE(watched);
    check(watched->summary);
}

TEST_F(FiguresTest, OfARunThatTrains) {
    feed.open({settingsOf({"max_steps=100000", "epochs=10000"})});
    feed.post(engine::Command::start);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks().front()->rows() > 30; }, 20'000));
    feed.post(engine::Command::pause);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::paused; }, 20'000));
    const auto track = feed.tracks().front();
    const std::filesystem::path kept = track->started()->folder;
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {  // rows, and the evaluation between them
            const KeyFigures stored = engine::figures_of_run(kept);
            return track->rows() == stored.steps &&
                   track->figures().evaluated_at == stored.evaluated_at;
        },
        5000));
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
    EXPECT_TRUE(QTest::qWaitFor(panelShows, 5000))
        << panel->model()->index(0, 0).data(Qt::ToolTipRole).toString().toStdString();
    // The status line.
    const auto shows = [&](const QString& text) {
        return QTest::qWaitFor(
            [&] {
                return std::ranges::any_of(
                    window->findChild<StatusLine*>()->findChildren<QLabel*>(),
                    [&](const QLabel* label) { return label->text() == text; });
            },
            2000);
    };
    EXPECT_TRUE(shows(significant(now.samples_per_s) + u' ' + speedUnit(track->unit())));
    EXPECT_TRUE(shows(u"%1/step"_s.arg(milliseconds(now.step_ms))));
    feed.post(engine::Command::stop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 20'000));
}

}  // namespace
}  // namespace ui
