#pragma once

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QSettings>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/record/figures.h"
#include "engine/report/report.h"
#include "engine/runs/export.h"
#include "engine/runs/run_listing.h"
#include "engine/verdict/verdict.h"
#include "feed/run_track.h"
#include "microscope/microscope_model.h"
#include "models/event_model.h"
#include "models/run_list_model.h"
#include "pages/page_stack.h"
#include "panels/frame/status_line.h"
#include "panels/history/history_panel.h"
#include "panels/verdict/run_card.h"
#include "panels/verdict/verdict_bar.h"
#include "report/report_page.h"
#include "skips/skips_model.h"
#include "support/trained_runs.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/metric_text.h"
#include "text/run_text.h"
#include "xray/xray_page.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::KeyFigures;
using engine::RunSummary;

/// Reads a run's figures from all places that show them, which must be the same.
struct FiguresFixture : TrainedRuns {
    ~FiguresFixture() override { QSettings().clear(); }  // forgets the page that was shown last

    /// Keeps histograms for Microscope.
    static engine::RunConfig settingsOf(std::vector<std::string> changes) {
        changes.emplace_back("instruments.histograms_every=8");
        return ui::settingsOf(std::move(changes));
    }

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
        if (track->done()) checkInstruments(*track, now);
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

    /// Another program may not tell it.
    static QString peakText(const KeyFigures& now) {
        return now.peak_bytes == 0 ? unmeasured() : bytes(now.peak_bytes);
    }

    QStringList expectedCard(const RunTrack& track, const KeyFigures& now) const {
        const auto metric = primaryMetric(track.metrics());
        return {significant(now.loss_last_20), metricValue(metric, valueOf(now.test, metric)),
                measured(now.samples_per_s, significant), peakText(now)};
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
            300'000);
        for (int i = 0; i < 4; ++i) EXPECT_EQ(value(i).toStdString(), expected[i].toStdString());
    }

    void checkEvidence(const RunTrack& track, const KeyFigures& now) const {
        const auto captions = figureCaptions(track.metrics(), track.unit());
        const QStringList expected = expectedCard(track, now);
        QStringList found;
        for (const QStringList& row : rowsOf(evidenceTable(track, track, {}))) {
            for (int i = 0; i < 4; ++i) {
                const QString& caption = captions[static_cast<std::size_t>(i)];
                if (row.front() != (i == 2 ? u"mean speed, "_s + caption : caption)) continue;
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
        standsStill();
        const QString text = textOf(panelBody(u"step"_s));
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
        EXPECT_EQ(cell(u"mean time per step"_s), measured(now.step_ms, milliseconds));
        EXPECT_EQ(cell(speedUnit(track.unit())), measured(now.samples_per_s, significant));
        EXPECT_EQ(cell(u"peak memory"_s), peakText(now));
        EXPECT_EQ(cell(u"steps"_s), count(now.steps));
        EXPECT_EQ(cell(u"updates"_s), count(now.updates));
        EXPECT_EQ(cell(u"skipped"_s), count(now.skipped));
        EXPECT_EQ(cell(u"growths"_s), count(now.growths));
        const auto listed = engine::read_run_folder(run.folder);
        ASSERT_TRUE(listed);
        std::map<std::string, std::string> found;
        for (const auto& row : engine::make_report({listed->summary}).runs.rows)
            found[row[0].str()] = row[1].str();
        EXPECT_EQ(found["Steps"], count(now.steps).toStdString());
        EXPECT_EQ(found["Skipped steps"], count(now.skipped).toStdString());
        EXPECT_EQ(found["Growths of the loss scale"], count(now.growths).toStdString());
        EXPECT_NEAR(std::stod(found["Mean time per step"]), now.step_ms, 1e-3 * now.step_ms);
        EXPECT_NEAR(std::stod(found["Training time"]), now.train_s, 1e-3 * now.train_s);
        EXPECT_EQ(found["Peak memory"], peakText(now).toStdString());
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
        EXPECT_TRUE(shown("peak_bytes").startsWith(peakText(now)));
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

    /// All words of a part of the window.
    static QString textOf(const QWidget* part) {
        QString text;
        for (const auto* label : part->findChildren<QLabel*>())
            text += label->text() + u'\n';
        return text;
    }

    void checkInstruments(const RunTrack& track, const KeyFigures& now) {
        auto* pages = window->findChild<PageStack*>();
        const QString before = pages->shown().name;
        pages->showPage(u"microscope"_s);
        checkMicroscope(track);
        pages->showPage(u"xray"_s);
        checkXray(track, now);
        if (now.skipped > 0) {
            pages->showPage(u"skips"_s);
            checkSkips(track, now);
        }
        pages->showPage(before);
    }

    void checkMicroscope(const RunTrack& track) {
        const auto* model = window->findChild<MicroscopeModel*>();
        standsStill();
        if (!model->sample()) {
            EXPECT_FALSE(model->emptiness().isEmpty());
            return;
        }
        const engine::StepRecord step = track.at(model->sample()->step);
        EXPECT_EQ(model->scale(), static_cast<double>(step.loss_scale));
        if (!model->scaled()) return;
        const QString text = textOf(shownPage()), scale = powerOfTwo(step.loss_scale);
        // The scale of the step is called that of now only if the card says the same.
        const bool is_now = step.loss_scale == static_cast<float>(track.figures().scale_now);
        const QString when = is_now ? u"now"_s : u"step %1"_s.arg(count(step.step));
        EXPECT_TRUE(text.contains(u"%1, %2\n"_s.arg(when, scale))) << text.toStdString();
        // The headline's distance to overflow is that of the step's max safe scale.
        const QRegularExpressionMatch said =
            QRegularExpression(u"(?:now|had) (\\S+), (\\S+) bits below overflow"_s).match(text);
        if (!said.hasMatch()) return;
        EXPECT_EQ(said.captured(1), scale);
        EXPECT_NEAR(said.captured(2).toDouble(), std::log2(step.scale_ceiling / step.loss_scale),
                    0.051);
        ++headlines;
    }

    /// The traced step is the run's own, bit for bit.
    void checkXray(const RunTrack& track, const KeyFigures& now) {
        auto* model = window->findChild<XrayModel*>();
        link.select(now.steps);
        if (!model->busy() && !model->trace()) model->traceStep();
        ASSERT_TRUE(QTest::qWaitFor([&] { return !model->busy(); }, 300'000));
        standsStill();
        if (!model->trace()) {
            EXPECT_FALSE(model->problem().isEmpty());
            return;
        }
        EXPECT_EQ(model->trace()->step, now.steps);
        const float loss = track.at(now.steps).loss;
        const auto traced = static_cast<float>(model->trace()->loss);
        EXPECT_TRUE(traced == loss || (std::isnan(traced) && std::isnan(loss)))
            << traced << " and not " << loss;
        EXPECT_TRUE(textOf(shownPage()).contains(u"step %1 ·"_s.arg(count(now.steps))));
        ++traces;
    }

    void checkSkips(const RunTrack& track, const KeyFigures& now) const {
        const auto* model = window->findChild<SkipsModel*>();
        const auto skipped = [&] {
            return std::ranges::count_if(model->skips().list,
                                         [](const auto& step) { return step.skipped; });
        };
        EXPECT_TRUE(QTest::qWaitFor([&] { return skipped() == now.skipped; }, 300'000))
            << skipped() << " and not " << now.skipped;
        for (const engine::SkippedStep& step : model->skips().list) {
            const engine::StepRecord row = track.at(step.step);
            EXPECT_EQ(step.loss_scale, row.loss_scale);
            EXPECT_EQ(step.skipped, row.found_inf != 0);
        }
    }

    int headlines = 0;  ///< of Microscope that were compared
    int traces = 0;     ///< steps that X-ray traced
};

}  // namespace ui
