#include "report/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(PlotCurve, KeepsTheExtremesOfAColumn) {
    PlotCurve curve("run", "#000", 860 * 1000);
    for (std::int64_t step = 1; step <= 1000; ++step) curve.add(step, step == 500 ? 99 : 1);
    curve.add(700, -3);
    EXPECT_EQ(curve.all()[0].highest, 99) << "a single step shows";
    EXPECT_EQ(curve.all()[0].lowest, -3);
    EXPECT_FALSE(curve.all()[1].any);
    curve.add(860 * 1000, 5);
    EXPECT_EQ(curve.all().back().highest, 5);
    curve.add(1001, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(curve.all()[1].not_finite);
    EXPECT_FALSE(curve.all()[1].any);
}

TEST(SvgPlot, DrawsCurvesTicksAndWhatIsNotFinite) {
    PlotCurve curve("AMP <1>", "#0b6bcb", 10);
    for (std::int64_t step = 1; step <= 10; ++step)
        curve.add(step, 65536.0 / static_cast<double>(step));
    curve.add(5, std::numeric_limits<double>::infinity());
    const std::string svg =
        svg_plot({curve}, 10, {.axis = AxisKind::log2, .staircase = true, .ticks = {3, 4}});
    EXPECT_THAT(svg, HasSubstr("AMP &lt;1&gt;"));
    EXPECT_THAT(svg, HasSubstr("#0b6bcb"));
    EXPECT_THAT(svg, HasSubstr(">2¹⁶<"));
    EXPECT_THAT(svg, HasSubstr(">2¹⁷<")) << "as in the window, a power above";
    EXPECT_THAT(svg, Not(HasSubstr("65,536")));
    EXPECT_THAT(svg, HasSubstr(">skipped<")) << "the legend of the ticks";
    EXPECT_THAT(svg, HasSubstr("#b3261e"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
}

/// Numbers on the y axis, from below.
std::vector<std::string> y_labels(const std::string& svg) {
    const std::regex label("text-anchor=\"end\" fill=\"#555\">([^<]*)<");
    std::vector<std::string> found;
    for (std::sregex_iterator at(svg.begin(), svg.end(), label), end; at != end; ++at)
        found.push_back((*at)[1]);
    return found;
}

TEST(SvgPlot, TheLossScaleHasTheWindowsAxisOfPowersOfTwo) {
    PlotCurve one("one", "#000", 10), wide("wide", "#000", 10);
    for (std::int64_t step = 1; step <= 10; ++step) one.add(step, 65536 << (step > 5 ? 1 : 0));
    wide.add(1, 1);
    wide.add(2, 0x1p24);
    EXPECT_THAT(y_labels(svg_plot({one}, 10, {.axis = AxisKind::log2})),
                ElementsAre("2¹⁴", "2¹⁵", "2¹⁶", "2¹⁷", "2¹⁸"));
    EXPECT_THAT(y_labels(svg_plot({wide}, 10, {.axis = AxisKind::log2})),
                ElementsAre("2⁰", "2⁴", "2⁸", "2¹²", "2¹⁶", "2²⁰", "2²⁴"));
}

TEST(SvgPlot, WritesSmallNumbersAsPowersAndLargeOnesWithSeparators) {
    PlotCurve curve("run", "#000", 10'000);
    curve.add(1, 1e-7);
    curve.add(2, 2e-2);
    const std::string svg = svg_plot({curve}, 10'000, {.axis = AxisKind::log});
    EXPECT_THAT(svg, HasSubstr(">10⁻⁶<"));
    EXPECT_THAT(svg, HasSubstr(">10⁻²<"));
    EXPECT_THAT(svg, HasSubstr(">10,000<"));
    EXPECT_THAT(svg, Not(HasSubstr("e-0")));
}

TEST(SvgPlot, OfNothingIsAnEmptyPlot) {
    const PlotCurve none("none", "#000", 1);
    PlotCurve only_nan("nan", "#000", 3);
    only_nan.add(2, std::numeric_limits<double>::quiet_NaN());
    PlotCurve negative("negative", "#000", 3);
    negative.add(1, -1);
    for (const PlotCurve& curve : {none, only_nan, negative}) {
        const std::string svg = svg_plot({curve}, 3, {.axis = AxisKind::log});
        EXPECT_THAT(svg, Not(HasSubstr("inf"))) << curve.name();
        EXPECT_THAT(svg, Not(HasSubstr("-nan"))) << curve.name();
        EXPECT_TRUE(y_labels(svg).empty()) << "an invented range: " << curve.name();
    }
}

}  // namespace
}  // namespace engine
