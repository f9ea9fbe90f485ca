#include "plots/plot_curves.h"

#include <set>

#include "plots/line_plot_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PlotCurvesTest : LinePlotFixture {};

TEST_F(PlotCurvesTest, GivesEachRunALaneForItsSkips) {
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

TEST_F(PlotCurvesTest, ShowsTheRawCurveAloneWithoutSmoothing) {
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

TEST_F(PlotCurvesTest, ALogarithmicXAxisHasEachOfTheFirstSteps) {
    addRun(u"FP32"_s, trackOf(100'000, 0.01, /*skippedStep=*/3));
    PlotLook look;
    look.smooth = true;
    link.options()->setLogX(true);
    const auto plot = show(look);
    EXPECT_EQ(plot->xAxis->scaleType(), QCPAxis::stLogarithmic);
    EXPECT_GE(plot->xAxis->range().lower, 1);
    for (const int graph : {0, 1}) {
        std::set<double> steps;
        double before = 0;
        for (const auto& point : *plot->graph(graph)->data()) {
            EXPECT_GE(point.key, before) << "sorted";
            before = point.key;
            if (point.key <= 8) steps.insert(point.key);
        }
        EXPECT_GE(steps.size(), 7U) << "one column is one step there";
        EXPECT_NEAR(before, 100'000, 500);
    }
    EXPECT_LT(plot->graph(0)->data()->size(), 10'000) << "no more than pixels can show";
    ASSERT_EQ(plot->scene().lanes.size(), 1U);
    EXPECT_EQ(plot->scene().lanes[0].ticks, std::vector<double>{3});
    // A time axis stays linear, and counts in steps come back as they were.
    link.options()->setX(XKind::time);
    plot->paintNow();
    EXPECT_EQ(plot->xAxis->scaleType(), QCPAxis::stLinear);
    link.options()->setX(XKind::step);
    link.options()->setLogX(false);
    plot->paintNow();
    EXPECT_EQ(plot->xAxis->scaleType(), QCPAxis::stLinear);
}

TEST_F(PlotCurvesTest, ShadesEverySecondEpochOfOneRun) {
    addRun(u"FP32"_s, trackOf(100, 0.01));
    addRun(u"AMP FP16"_s, trackOf(100, 0.01));
    for (const auto& axis : axes)
        for (const double step : {25.0, 50.0, 75.0, 100.0})
            content.epochs.push_back({step, axis.get()});
    const auto plot = show();
    const auto& bands = plot->scene().bands;
    ASSERT_EQ(bands.size(), 2U);
    EXPECT_EQ(bands[0], QCPRange(25, 50));
    EXPECT_EQ(bands[1], QCPRange(75, 100));
    const QImage image = plot->grab().toImage();
    const auto color = [&](double step) {
        const qreal ratio = image.devicePixelRatio();
        return image.pixelColor(static_cast<int>(plot->xAxis->coordToPixel(step) * ratio),
                                static_cast<int>((plot->axisRect()->top() + 3) * ratio));
    };
    EXPECT_NE(color(37), color(12));
    EXPECT_EQ(color(62), color(12));
}

TEST_F(PlotCurvesTest, SmoothsMoreWithAGreaterStrength) {
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

TEST_F(PlotCurvesTest, NamesEachCurveAtItsEndAndFindsTheNearest) {
    const auto track = trackOf(100, 0.01);
    addRun(u"FP32"_s, track);
    const auto plot = show();
    EXPECT_EQ(plot->curves().longest(), 100);
    EXPECT_EQ(plot->curves().window(), 0) << "nothing is averaged";
    ASSERT_EQ(plot->scene().labels.size(), 1u);
    EXPECT_EQ(plot->scene().labels[0].text, u"FP32"_s);
    EXPECT_NEAR(plot->scene().labels[0].x, 100, 1e-9);
    EXPECT_NEAR(plot->scene().labels[0].y, 0.01, 1e-6);
    const auto at = [&](double step, double value) {
        return QPointF(plot->xAxis->coordToPixel(step), plot->yAxis->coordToPixel(value));
    };
    EXPECT_EQ(plot->curves().runAt(at(50, 0.02)), track);
    EXPECT_EQ(plot->curves().runAt(at(50, 0.9)), nullptr);
}

}  // namespace
}  // namespace ui
