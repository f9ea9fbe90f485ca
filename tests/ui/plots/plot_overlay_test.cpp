#include "plots/plot_overlay.h"

#include <gtest/gtest.h>

#include <QFont>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

std::vector<EndLabel> five(double y) {
    std::vector<EndLabel> labels;
    for (const auto& name :
         {u"FP32"_s, u"AMP FP16"_s, u"AMP BF16"_s, u"O2 FP16"_s, u"Pure FP16"_s}) {
        labels.push_back({name, Qt::black, 300, y});
    }
    labels.push_back({u"overflows"_s, Qt::gray, 300, y, true});
    return labels;
}

void expectApart(const std::vector<PlacedLabel>& placed, double top, double bottom) {
    for (std::size_t a = 0; a < placed.size(); ++a) {
        EXPECT_GE(placed[a].box.top(), top - 1.5);
        EXPECT_LE(placed[a].box.bottom(), bottom + 1.5);
        for (std::size_t b = 0; b < a; ++b) {
            EXPECT_FALSE(placed[a].box.adjusted(0, .01, 0, -.01).intersects(placed[b].box))
                << a << " " << b;
        }
    }
}

TEST(EndLabels, NeverOverlapAndStayInTheirPlaceAtAnyHeight) {
    const QFontMetrics metrics{QFont()};
    for (int height = 4; height < 300; height += 7) {
        const auto placed = placeLabels(five(height / 3.0), metrics, 10, 10 + height, 400);
        expectApart(placed, 10, 10 + height);
    }
}

TEST(EndLabels, BecomeDotsWhereTheNamesHaveNoRoom) {
    const QFontMetrics metrics{QFont()};
    const int line = metrics.height();
    const auto all = placeLabels(five(20), metrics, 0, 6 * line, 400);
    ASSERT_EQ(all.size(), 6u);
    const auto curves = placeLabels(five(20), metrics, 0, 5 * line, 400);
    ASSERT_EQ(curves.size(), 5u);  // the optional label was dropped
    EXPECT_EQ(curves[0].text, u"FP32"_s);
    const auto dots = placeLabels(five(20), metrics, 0, 3 * line, 400);
    ASSERT_EQ(dots.size(), 5u);
    for (const auto& each : dots) EXPECT_TRUE(each.text.isEmpty());
}

TEST(EndLabels, AreCutOffAtTheEdgeOfThePlot) {
    const QFontMetrics metrics{QFont()};
    const auto placed =
        placeLabels({{u"Pure FP16 of a long name"_s, Qt::black, 300, 50}}, metrics, 0, 100, 340);
    ASSERT_EQ(placed.size(), 1u);
    EXPECT_LE(placed[0].box.right(), 340);
    EXPECT_TRUE(placed[0].text.endsWith(u'…'));
}

}  // namespace
}  // namespace ui
