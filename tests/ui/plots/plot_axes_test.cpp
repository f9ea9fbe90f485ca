#include "plots/plot_axes.h"

#include "plots/line_plot_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PlotAxesTest : LinePlotFixture {};

TEST_F(PlotAxesTest, PutsEachRunAtItsOwnTime) {
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

TEST_F(PlotAxesTest, ShowsAPauseOnTheClock) {
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
    EXPECT_EQ(plot->axes().xKind(), XKind::time);
    EXPECT_NEAR((plot->graph(0)->data()->constEnd() - 1)->key, 1, 1e-6);
}

TEST_F(PlotAxesTest, ShareMarginsWhateverTheirLabels) {
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

TEST_F(PlotAxesTest, ShowsNoRangeBeforeItIsKnown) {
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

TEST_F(PlotAxesTest, TheRoomForSkipsFollowsTheHeightAndNoOtherThemeChangesTheRange) {
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

TEST_F(PlotAxesTest, StepsLieWhereTheirRunHasThem) {
    const auto track = trackOf(100, 0.04);
    addRun(u"slow"_s, track);
    link.options()->setX(XKind::time);
    const auto plot = show();
    EXPECT_NEAR(plot->axes().xOf(&track->axis(), 50), 2.0, 1e-9);
    EXPECT_EQ(plot->axes().stepOf(&track->axis(), 2.0), 50);
    EXPECT_EQ(plot->axes().stepOf(nullptr, 2.0), 2) << "at the step itself";
    link.zoom(40, 60);
    plot->paintNow();
    const auto [first, last] = plot->axes().rowsInView(&track->axis());
    EXPECT_NEAR(static_cast<double>(first), 39, 1);
    EXPECT_NEAR(static_cast<double>(last), 61, 1);
}

}  // namespace
}  // namespace ui
