#include "plots/plot_curves.h"

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
