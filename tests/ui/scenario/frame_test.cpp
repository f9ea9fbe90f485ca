// A frame shows one snapshot: plots, counters, cards, events and verdict show the same step.
#include <algorithm>

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "models/run_list_model.h"
#include "panels/history/history_panel.h"
#include "plots/line_plot.h"
#include "text/format.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::RunConfig spirals() {
    const auto parsed = engine::parse_run_config(
        R"({"dataset": {"kind": "spirals", "train_limit": 512}, "model": {"kind": "mlp"},
            "batch_size": 32, "epochs": 100000, "scaler": {"preset": "classroom"}})");
    EXPECT_TRUE(parsed.errors.empty());
    return parsed.config;
}

struct FrameTest : WindowFixture {
    void train() {
        settings.load(spirals(), {u"fp32"_s, u"amp-fp16"_s, u"pure-fp16"_s});
        commands.compare();
    }
    bool reaches(std::int64_t rows) {
        return QTest::qWaitFor([&] { return feed.tracks()[2]->rows() >= rows; }, 300'000);
    }
    QString chip(const QString& name) const {
        for (const auto* label : window->findChildren<QLabel*>(u"chip"_s)) {
            if (label->accessibleName() == name) return label->text();
        }
        return {};
    }
    std::shared_ptr<RunTrack> run(int index) const {
        return feed.tracks()[static_cast<std::size_t>(index)];
    }
};

TEST_F(FrameTest, PaintsPlotsAndFiguresOfTheSameStep) {
    train();
    ASSERT_TRUE(reaches(20));
    int frames = 0;
    QObject::connect(&feed, &EventFeed::figuresDue, window.get(), [&] {
        ++frames;
        // Plots count the longest run's: on a busy machine another may be ahead of the first.
        std::int64_t rows = 0;
        for (const auto& track : feed.tracks()) rows = std::max(rows, track->rows());
        for (const auto* plot : window->findChildren<LinePlot*>()) {
            if (!plot->isVisible()) continue;
            EXPECT_NEAR(static_cast<double>(plot->paintedSteps()), static_cast<double>(rows), 1);
        }
        EXPECT_TRUE(chip(u"Steps"_s).contains(count(run(1)->rows()))) << "counter beside plots";
    });
    EXPECT_TRUE(QTest::qWaitFor([&] { return frames >= 5; }, 300'000));
}

TEST_F(FrameTest, ChangesNothingBetweenFrames) {
    train();
    ASSERT_TRUE(reaches(20));
    QSignalSpy frames(&feed, &EventFeed::rowsArrived);
    std::int64_t rows = run(0)->rows();
    bool changed = false;
    QElapsedTimer clock;
    clock.start();
    while (frames.count() < 5 && clock.elapsed() < 30'000) {
        const auto before = frames.count();
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        if (frames.count() == before) changed = changed || run(0)->rows() != rows;
        rows = run(0)->rows();
    }
    EXPECT_FALSE(changed);
    EXPECT_GE(frames.count(), 5);
    // Four per second: three whole ones between the first, which was in progress, and the last.
    EXPECT_GE(clock.elapsed(), 700);
}

TEST_F(FrameTest, NoEventSpeaksOfAStepThatIsNotOnScreenYet) {
    int seen = 0;
    QObject::connect(&feed, &EventFeed::eventArrived, window.get(),
                     [&](const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
                         const auto* scale = std::get_if<engine::ScaleChanged>(&event);
                         if (scale == nullptr) return;
                         ++seen;
                         EXPECT_LE(scale->step, track->rows());
                     });
    train();
    ASSERT_TRUE(QTest::qWaitFor([&] { return seen >= 5; }, 300'000));
}

TEST_F(FrameTest, TheSpeedOfARunIsThatOfItsEndWhateverIsBesideIt) {
    train();
    ASSERT_TRUE(reaches(60));
    feed.experiment().post(engine::Command::stop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(QTest::qWaitFor([&] { return run(i)->done().has_value(); }, 300'000));
        EXPECT_EQ(run(i)->figures().samples_per_s, run(i)->done()->samples_per_s);
        EXPECT_EQ(run(i)->figures().peak_bytes, run(i)->done()->peak_bytes);
    }
}

TEST_F(FrameTest, SelectingAStepOfARunSelectsThatRunInCountersAndStepPanel) {
    train();
    ASSERT_TRUE(reaches(30));
    commands.togglePause();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::paused; }, 300'000));
    const auto* step = window->findChild<QDockWidget*>(u"step"_s);
    const auto shows = [&](const QString& title) {
        const auto labels = step->findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
                           [&](const auto* label) { return label->text() == title; });
    };
    link.select(5, run(1));
    EXPECT_TRUE(shows(u"AMP FP16"_s));
    link.select(5, run(2));
    EXPECT_TRUE(shows(u"Pure FP16"_s));
    EXPECT_FALSE(shows(u"AMP FP16"_s));
    link.selectRun(run(0));
    EXPECT_TRUE(shows(u"FP32"_s)) << "the step stays, the run changes";
    EXPECT_EQ(link.selected(), 5);
    EXPECT_EQ(link.crosshair(), 5);
}

TEST_F(FrameTest, AClickNearACurveSelectsItsRun) {
    train();
    ASSERT_TRUE(reaches(60));
    feed.experiment().post(engine::Command::stop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    auto* plot = window->findChild<QDockWidget*>(u"loss"_s)->findChild<LinePlot*>();
    ASSERT_NE(plot, nullptr);
    link.zoom(0, static_cast<double>(run(0)->rows()));
    settle();
    // The first graphs are the raw curves, then come those in front.
    const auto heightOf = [&](int index, double step) {
        const auto* graph = plot->graph(plot->graphCount() - 3 + index);
        return plot->yAxis->coordToPixel(graph->data()->findBegin(step)->value);
    };
    for (int i = 0; i < 3; ++i) {
        const double step = static_cast<double>(run(0)->rows() / 2);
        const QPointF at(plot->xAxis->coordToPixel(step), heightOf(i, step));
        QTest::mouseClick(plot, Qt::LeftButton, {}, at.toPoint());
        const auto chosen = link.run();
        ASSERT_NE(chosen, nullptr);
        // Curves may coincide: the selected one must be as near as the one that was clicked.
        for (int k = 0; k < 3; ++k) {
            if (chosen != run(k)) continue;
            EXPECT_NEAR(heightOf(k, step), at.y(), 2);
        }
    }
}

TEST_F(FrameTest, ARowOfTheHistorySelectsItsRunAndFollowsTheSelectedOne) {
    train();
    ASSERT_TRUE(reaches(20));
    feed.experiment().post(engine::Command::stop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    auto* list = window->findChild<HistoryPanel*>();
    const auto* runs = qobject_cast<RunListModel*>(list->model());
    ASSERT_NE(runs, nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return runs->rowCount() == 3; }, 300'000));
    list->setCurrentIndex(runs->index(runs->rowOf(run(0)->run())));
    ASSERT_EQ(feed.tracks().size(), 3u);
    EXPECT_EQ(link.run(), run(0));
    link.select(5, run(2));
    EXPECT_EQ(list->currentIndex().row(), runs->rowOf(run(2)->run()));
}

TEST_F(FrameTest, HasAVerdictOnEachPrecisionWithItsEvidenceBehindALink) {
    train();
    ASSERT_TRUE(reaches(60));
    const auto lines = window->findChildren<VerdictLine*>();
    ASSERT_EQ(lines.size(), 2);
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return lines[1]->accessibleName().startsWith(u"Pure FP16"_s); }, 300'000));
    EXPECT_TRUE(lines[0]->accessibleName().startsWith(u"AMP FP16"_s));
    EXPECT_TRUE(lines[0]->findChild<QToolButton*>()->isVisible());
}

}  // namespace
}  // namespace ui
