#include "plots/plot_link.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

TEST(PlotLink, GoesBackFromOneZoomAfterAnother) {
    PlotLink link;
    link.setEnd(1000);
    EXPECT_FALSE(link.canGoBack());
    link.zoom(100, 600);
    link.zoom(200, 300);
    link.back();
    EXPECT_EQ(link.low(), 100);
    EXPECT_EQ(link.high(), 600);
    link.back();
    EXPECT_TRUE(link.fitted());
    EXPECT_FALSE(link.canGoBack());
    link.back();
    EXPECT_TRUE(link.fitted()) << "there is nothing to go back to";
}

TEST(PlotLink, TakesNotchesOfTheWheelThatFollowEachOtherAsOneZoom) {
    PlotLink link;
    link.setEnd(1000);
    for (int i = 0; i < 10; ++i) link.zoomAround(500, 0.8);
    EXPECT_GT(link.low(), 400);
    link.back();
    EXPECT_TRUE(link.fitted());
}

TEST(PlotLink, PansWithinTheEnds) {
    PlotLink link;
    link.setEnd(1000);
    link.pan(50);
    EXPECT_TRUE(link.fitted()) << "all is shown: there is nowhere to go";
    link.zoom(100, 300);
    link.pan(50);
    EXPECT_EQ(link.low(), 150);
    EXPECT_EQ(link.high(), 350);
    link.pan(-1e6);
    EXPECT_EQ(link.low(), 0);
    EXPECT_EQ(link.high(), 200);
    link.pan(1e6);
    EXPECT_EQ(link.low(), 800);
    EXPECT_EQ(link.high(), 1000);
}

TEST(PlotLink, KeepsTheValuesThatOnePlotShows) {
    PlotLink link;
    link.setEnd(1000);
    const int one = 0, other = 0;
    link.zoomValues(&one, {0.5, 2});
    EXPECT_EQ(link.values(&one), PlotLink::Values(0.5, 2));
    EXPECT_FALSE(link.values(&other));
    link.fit();
    EXPECT_FALSE(link.values(&one)) << "fits the values, too";
    link.back();
    EXPECT_EQ(link.values(&one), PlotLink::Values(0.5, 2));
    link.dropValues(&one);
    EXPECT_FALSE(link.values(&one));
    link.zoomValues(&one, {2, 2});
    EXPECT_FALSE(link.values(&one)) << "no range";
}

TEST(PlotLink, ForgetsZoomsOfOtherRuns) {
    PlotLink link;
    link.setEnd(1000);
    const int plot = 0;
    link.zoom(100, 300);
    link.zoomValues(&plot, {0, 1});
    link.forgetZooms();
    EXPECT_TRUE(link.fitted());
    EXPECT_FALSE(link.values(&plot));
    EXPECT_FALSE(link.canGoBack());
}

}  // namespace
}  // namespace ui
