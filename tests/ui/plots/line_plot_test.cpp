// Plots of runs whose rows a test lists, and their reactions to mouse and keys.
#include "plots/line_plot.h"

#include <gtest/gtest.h>

#include <QTest>

#include "feed/run_track.h"
#include "plots/plot_export.h"
#include "plots/plot_options.h"
#include "support/list_source.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

std::shared_ptr<RunTrack> trackOf(std::int64_t rows, double secondsPerStep,
                                  std::int64_t skippedStep = 0, std::int64_t pauseAt = 0) {
    std::vector<engine::StepRecord> list;
    for (std::int64_t step = 1; step <= rows; ++step) {
        engine::StepRecord row{};
        row.step = step;
        row.updates = step - (skippedStep > 0 && step >= skippedStep ? 1 : 0);
        row.samples = 32 * step;
        row.elapsed_s = secondsPerStep * static_cast<double>(step);
        if (pauseAt > 0) row.clock_s = 1.7e9 + row.elapsed_s + (step > pauseAt ? 60 : 0);
        row.loss = 1.f / static_cast<float>(step);
        row.loss_scale = 1024;
        row.scale_ceiling = 65536;
        row.found_inf = step == skippedStep ? 1 : 0;
        list.push_back(row);
    }
    auto track = std::make_shared<RunTrack>("1", engine::RunConfig{});
    track->setSource(listSource(std::move(list)));
    while (track->catchUp(QDeadlineTimer(1000))) continue;
    return track;
}

struct LinePlotTest : testing::Test {
    Curve curve(const QString& name, const std::shared_ptr<RunTrack>& track,
                Figure figure = &engine::StepRecord::loss) {
        return {name, Qt::blue, false, &track->series(figure), &track->axis(), track};
    }
    void addRun(const QString& name, const std::shared_ptr<RunTrack>& track) {
        content.curves.push_back(curve(name, track));
        content.skips.push_back(curve(name, track, &engine::StepRecord::found_inf));
        axes.emplace_back(track, &track->axis());
        link.options()->setRuns(axes);
        link.setEnd(std::max(link.end(), static_cast<double>(track->rows())));
    }
    std::unique_ptr<LinePlot> show(PlotLook look = {}, QSize size = {600, 300}) {
        auto plot = std::make_unique<LinePlot>(&theme, &link, &scheduler);
        plot->setLook(std::move(look));
        plot->setContent(content);
        plot->resize(size);
        plot->show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(plot.get()));
        for (int i = 0; i < 3; ++i) plot->paintNow();
        return plot;
    }
    static QPoint pixel(const LinePlot& plot, double x) {
        return {static_cast<int>(plot.xAxis->coordToPixel(x)), plot.axisRect()->center().y()};
    }

    Theme theme{Theme::Choice::light};
    PlotLink link;
    PaintScheduler scheduler;
    PlotContent content;
    std::vector<std::shared_ptr<const RowAxis>> axes;
};

TEST_F(LinePlotTest, ArrowsMoveTheStepByWhatAPixelShows) {
    addRun(u"FP32"_s, trackOf(100'000, 0.01));
    const auto plot = show();
    link.select(50'000);
    const auto pixel = std::llround(100'000.0 / plot->axisRect()->width());
    ASSERT_GT(pixel, 100);
    QTest::keyClick(plot.get(), Qt::Key_Right);
    EXPECT_EQ(link.selected(), 50'000 + pixel);
    QTest::keyClick(plot.get(), Qt::Key_Left);
    EXPECT_EQ(link.selected(), 50'000);
    QTest::keyClick(plot.get(), Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_NEAR(static_cast<double>(link.selected()), 50'000.0 + 10 * static_cast<double>(pixel),
                10);
    link.select(50'000);
    QTest::keyClick(plot.get(), Qt::Key_Left, Qt::ControlModifier);
    EXPECT_EQ(link.selected(), 49'999);
    QTest::keyClick(plot.get(), Qt::Key_End);
    EXPECT_EQ(link.selected(), 100'000);
    QTest::keyClick(plot.get(), Qt::Key_Home);
    EXPECT_EQ(link.selected(), 1);
}

TEST_F(LinePlotTest, DoubleClickFitsAndLeavesTheSelectionAsItWas) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    const auto plot = show();
    link.select(7);
    link.zoom(100, 500);
    plot->paintNow();
    const QPoint at = pixel(*plot, 300);
    QTest::mouseClick(plot.get(), Qt::LeftButton, {}, at);
    EXPECT_EQ(link.selected(), 300);
    link.select(7);
    // As the system sends it: press, release, double click, release.
    QTest::mousePress(plot.get(), Qt::LeftButton, {}, at);
    QTest::mouseRelease(plot.get(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(plot.get(), Qt::LeftButton, {}, at);
    EXPECT_TRUE(link.fitted());
    EXPECT_EQ(link.selected(), 7);
}

TEST_F(LinePlotTest, PutsEachRunAtItsOwnTime) {
    addRun(u"fast"_s, trackOf(100, 0.01));
    addRun(u"slow"_s, trackOf(100, 0.04));
    link.options()->setX(XKind::time);
    const auto plot = show();
    ASSERT_EQ(plot->graphCount(), 4);  // raw curves and smoothed ones
    EXPECT_NEAR((plot->graph(0)->data()->constEnd() - 1)->key, 1.0, 1e-9);
    EXPECT_NEAR((plot->graph(1)->data()->constEnd() - 1)->key, 4.0, 1e-9);
    EXPECT_GE(plot->xAxis->range().upper, 4.0);
    EXPECT_LE(plot->xAxis->range().upper, 4.5);
    // At 2 s the fast run has ended, and the slow one is at its 50th step.
    QTest::mouseMove(plot.get(), pixel(*plot, 2.0));
    EXPECT_NEAR(static_cast<double>(link.hovered()), 50, 1);
    EXPECT_NEAR(plot->scene().crosshair, 2.0, 0.05);
    ASSERT_EQ(plot->scene().readout.size(), 2);
    EXPECT_TRUE(plot->scene().readout[1].first.startsWith(u"slow"_s));
}

TEST_F(LinePlotTest, ShowsAPauseOnTheClock) {
    addRun(u"paused"_s, trackOf(100, 0.01, 0, /*pauseAt=*/50));
    link.options()->setX(XKind::clock);
    const auto plot = show();
    EXPECT_NEAR((plot->graph(0)->data()->constEnd() - 1)->key, 61, 1e-6);
    QTest::mouseMove(plot.get(), pixel(*plot, 61));
    ASSERT_FALSE(plot->scene().readout.isEmpty());
    EXPECT_TRUE(plot->scene().readout[0].first.contains(u"since the start"_s));
    // A run without a clock joins: all are shown by their training time.
    addRun(u"earlier"_s, trackOf(100, 0.01));
    EXPECT_FALSE(link.options()->hasClock());
    EXPECT_EQ(link.options()->x(), XKind::time);
    plot->setContent(content);
    plot->paintNow();
    EXPECT_EQ(plot->xKind(), XKind::time);
    EXPECT_NEAR((plot->graph(0)->data()->constEnd() - 1)->key, 1, 1e-6);
}

TEST_F(LinePlotTest, ZoomsTheTimeAxisToWhatWasDragged) {
    addRun(u"fast"_s, trackOf(1000, 0.01));
    addRun(u"slow"_s, trackOf(1000, 0.04));
    link.options()->setX(XKind::time);
    const auto plot = show();
    QTest::mousePress(plot.get(), Qt::LeftButton, {}, pixel(*plot, 20));
    QMouseEvent move(QEvent::MouseMove, pixel(*plot, 30), plot->mapToGlobal(pixel(*plot, 30)),
                     Qt::NoButton, Qt::LeftButton, {});
    QCoreApplication::sendEvent(plot.get(), &move);
    QTest::mouseRelease(plot.get(), Qt::LeftButton, {}, pixel(*plot, 30));
    plot->paintNow();
    EXPECT_NEAR(plot->xAxis->range().lower, 20, 0.2);
    EXPECT_NEAR(plot->xAxis->range().upper, 30, 0.2);
}

TEST_F(LinePlotTest, GivesEachRunALaneForItsSkips) {
    addRun(u"AMP FP16"_s, trackOf(100, 0.01, 20));
    addRun(u"O2 FP16"_s, trackOf(100, 0.01, 60));
    const auto plot = show();
    const auto& lanes = plot->scene().lanes;
    ASSERT_EQ(lanes.size(), 2u);
    EXPECT_EQ(lanes[0].name, u"AMP FP16"_s);
    EXPECT_EQ(lanes[0].ticks, std::vector<double>{20});
    EXPECT_EQ(lanes[1].ticks, std::vector<double>{60});
    EXPECT_EQ(lanesHeight(plot->scene(), 300), 2 * QFontMetrics(Theme::caption()).height());
    EXPECT_LT(lanesHeight(plot->scene(), 60), 20) << "dots where names have no room";
}

TEST_F(LinePlotTest, ShareMarginsWhateverTheirLabels) {
    addRun(u"A run with a long name"_s, trackOf(100, 0.01));
    PlotLook look;
    look.axis = AxisKind::bytes;
    const auto wide = show(look);
    content = {};
    const auto narrow = show();
    wide->paintNow();
    narrow->paintNow();
    wide->paintNow();
    EXPECT_EQ(wide->axisRect()->left(), narrow->axisRect()->left());
    EXPECT_EQ(wide->axisRect()->right(), narrow->axisRect()->right());
    EXPECT_GT(wide->width() - wide->axisRect()->right(), 100);
}

TEST_F(LinePlotTest, ShowsTheRawCurveAloneWithoutSmoothing) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    PlotLook look;
    look.smooth = true;
    const auto plot = show(look);
    EXPECT_FALSE(plot->graph(1)->data()->isEmpty());
    const double faint = plot->graph(0)->pen().color().alphaF();
    link.options()->setSmoothing(0);
    plot->paintNow();
    EXPECT_TRUE(plot->graph(1)->data()->isEmpty());
    EXPECT_GT(plot->graph(0)->pen().color().alphaF(), faint);
}

TEST_F(LinePlotTest, SmoothsMoreWithAGreaterStrength) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    PlotLook look;
    look.smooth = true;
    const auto plot = show(look);
    // The loss falls, so a mean that reaches further back is larger.
    const auto atEnd = [&] { return (plot->graph(1)->data()->constEnd() - 1)->value; };
    const double before = atEnd();
    link.options()->setSmoothing(200);
    plot->paintNow();
    EXPECT_GT(atEnd(), 1.05 * before);
}

TEST_F(LinePlotTest, CopiesWhatIsVisibleAsColumns) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    addRun(u"AMP FP16"_s, trackOf(500, 0.02));
    link.zoom(100, 109);
    const auto plot = show();
    const QStringList lines = visibleData(*plot).trimmed().split(u'\n');
    EXPECT_EQ(lines[0], u"step\tFP32\tAMP FP16"_s);
    EXPECT_TRUE(lines.contains(u"105\t0.00952380989\t0.00952380989"_s));
    EXPECT_LE(lines.size(), 14);
    EXPECT_GE(lines.size(), 11);
    link.options()->setX(XKind::time);
    plot->paintNow();
    EXPECT_TRUE(visibleData(*plot).startsWith(
        u"step\tFP32 training time (s)\tFP32\tAMP FP16 training time (s)\tAMP FP16\n"_s));
}

TEST_F(LinePlotTest, APictureHasItsOwnSizeWithTitleAndNamesOfTheAxes) {
    addRun(u"FP32"_s, trackOf(100, 0.01));
    Theme light(Theme::Choice::light);
    PlotLook look;
    look.title = u"Loss"_s;
    look.axisName = u"loss, unscaled"_s;
    PlotPicture picture{&light, &link, look, content, {}};
    QTemporaryDir folder;
    const QString png = folder.path() + u"/loss.png"_s;
    ASSERT_TRUE(writePicture(picture, png));
    const QImage image(png);
    EXPECT_EQ(image.size(), QSize(2000, 1200));
    EXPECT_EQ(image.pixelColor(3, 3), light.tokens().panel);
    const QString svg = folder.path() + u"/loss.svg"_s;
    ASSERT_TRUE(writePicture(picture, svg));
    QFile file(svg);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    for (const QString& words : {u">Loss<"_s, u">loss, unscaled<"_s, u">step<"_s}) {
        EXPECT_TRUE(text.contains(words)) << words.toStdString();
    }
    ASSERT_TRUE(writePicture(picture, folder.path() + u"/loss.pdf"_s));
    EXPECT_GT(QFileInfo(folder.path() + u"/loss.pdf"_s).size(), 1000);
    EXPECT_FALSE(writePicture(picture, folder.path() + u"/absent/loss.png"_s));
    EXPECT_FALSE(writePicture(picture, folder.path() + u"/loss.txt"_s));
}

TEST_F(LinePlotTest, ZoomsTheValuesOfOnePlotAndCountsThePointsThatItLeavesOut) {
    addRun(u"FP32"_s, trackOf(100, 0.01));  // losses 1, 1/2, 1/3 ... 1/100
    const auto plot = show();
    EXPECT_TRUE(plot->scene().above.isEmpty()) << plot->scene().above.toStdString();
    link.zoomValues(plot.get(), {0, 0.3});
    plot->paintNow();
    EXPECT_NEAR(plot->yAxis->range().upper, 0.3, 1e-9);
    EXPECT_EQ(plot->scene().above, u"3 points above"_s);
    EXPECT_TRUE(plot->scene().below.isEmpty());
    // A drag with Ctrl, from the axis' middle down.
    const QRect area = plot->axisRect()->rect();
    const QPoint from = area.center(), to(from.x() + 20, area.bottom() - 10);
    QTest::mousePress(plot.get(), Qt::LeftButton, Qt::ControlModifier, from);
    QMouseEvent move(QEvent::MouseMove, to, plot->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                     Qt::ControlModifier);
    QCoreApplication::sendEvent(plot.get(), &move);
    QTest::mouseRelease(plot.get(), Qt::LeftButton, Qt::ControlModifier, to);
    ASSERT_TRUE(link.values(plot.get()));
    EXPECT_NEAR(link.values(plot.get())->second, 0.15, 0.01);
    EXPECT_TRUE(link.fitted()) << "the steps stay";
    QTest::mouseDClick(plot.get(), Qt::LeftButton, {}, from);
    EXPECT_FALSE(link.values(plot.get()));
}

TEST_F(LinePlotTest, PansAndGoesBackByMouseWheelAndKeys) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    const auto plot = show();
    link.zoom(400, 600);
    plot->paintNow();
    const QPoint from = pixel(*plot, 500), to = pixel(*plot, 550);
    QTest::mousePress(plot.get(), Qt::MiddleButton, {}, from);
    QMouseEvent move(QEvent::MouseMove, to, plot->mapToGlobal(to), Qt::NoButton, Qt::MiddleButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(plot.get(), &move);
    QTest::mouseRelease(plot.get(), Qt::MiddleButton, {}, to);
    EXPECT_NEAR(link.low(), 350, 2);
    EXPECT_NEAR(link.high(), 550, 2);
    EXPECT_EQ(link.selected(), 0) << "a pan selects no step";
    plot->paintNow();
    const double before = link.low();
    QTest::keyClick(plot.get(), Qt::Key_PageDown);
    EXPECT_NEAR(link.low(), before + 100, 2);
    while (link.canGoBack() && !link.fitted()) QTest::keyClick(plot.get(), Qt::Key_Backspace);
    EXPECT_TRUE(link.fitted());
}

TEST_F(LinePlotTest, ShowsNoRangeBeforeItIsKnown) {
    PlotLook look;
    look.emptyText = u"Nothing yet."_s;
    const auto plot = show(look);
    EXPECT_FALSE(plot->xAxis->tickLabels());
    EXPECT_FALSE(plot->yAxis->tickLabels());
    link.setEnd(32);
    plot->paintNow();
    EXPECT_TRUE(plot->xAxis->tickLabels()) << "the length is known before the first step";
    EXPECT_NEAR(plot->xAxis->range().upper, 32, 1e-9);
    EXPECT_FALSE(plot->yAxis->tickLabels());
    addRun(u"FP32"_s, trackOf(20, 0.01));
    plot->setContent(content);
    plot->paintNow();
    EXPECT_TRUE(plot->yAxis->tickLabels());
}

TEST_F(LinePlotTest, TheRoomForSkipsFollowsTheHeightAndNoOtherThemeChangesTheRange) {
    const auto track = trackOf(100, 0.01, /*skippedStep=*/25);
    addRun(u"AMP FP16"_s, track);
    content.curves = {curve(u"AMP FP16"_s, track, &engine::StepRecord::loss_scale)};
    content.ceilings = {curve({}, track, &engine::StepRecord::scale_ceiling)};
    PlotLook look;
    look.axis = AxisKind::log2;
    const auto plot = show(look, {600, 90});
    const QCPRange low = plot->yAxis->range();
    plot->resize(600, 300);
    plot->paintNow();
    const QCPRange high = plot->yAxis->range();
    EXPECT_LT(low.lower, high.lower) << "the lane of skips takes a larger part of a low plot";
    EXPECT_EQ(high, show(look)->yAxis->range()) << "as that of a plot that was never low";
    content.curves[0].color = content.ceilings[0].color = Qt::darkBlue;  // of the other theme
    plot->setContent(content);
    theme.setChoice(Theme::Choice::dark);
    plot->paintNow();
    EXPECT_EQ(plot->yAxis->range(), high);
}

TEST_F(LinePlotTest, TheReadOutListsTheRunsAsTheirCurvesLie) {
    addRun(u"low"_s, trackOf(100, 0.01));
    const auto high = trackOf(100, 0.01);
    content.curves.push_back(curve(u"high"_s, high, &engine::StepRecord::loss_scale));
    const auto plot = show();
    link.hover(50);
    plot->paintNow();
    const auto lines = plot->scene().readout;
    ASSERT_EQ(lines.size(), 3);
    EXPECT_TRUE(lines[1].first.startsWith(u"high"_s));
    EXPECT_TRUE(lines[2].first.startsWith(u"low"_s));
}

}  // namespace
}  // namespace ui
