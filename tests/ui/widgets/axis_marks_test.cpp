#include "widgets/axis_marks.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <array>

#include "theme/tokens.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(AxisMarks, LieBetweenThePixelsOfTheAxis) {
    const auto marks = axisMarks({engine::AxisKind::linear, {0, 10}}, 100, 0);
    ASSERT_EQ(marks.size(), 6u);
    EXPECT_EQ(marks.front().at, 100);
    EXPECT_EQ(marks.front().text, u"0"_s);
    EXPECT_EQ(marks.back().at, 0);
    EXPECT_EQ(marks.back().text, u"10"_s);
    const auto powers = exponentMarks(std::array{-24, 0}, [](int e) { return 2.0 * e; });
    EXPECT_EQ(powers.front().at, -48);
    EXPECT_EQ(powers.front().text, u"2⁻²⁴"_s);
}

TEST(AxisMarks, EndAtTheRightEdge) {
    QImage image(200, 60, QImage::Format_RGB32);
    image.fill(Qt::white);
    Tokens tokens;
    tokens.dim = Qt::black;
    QPainter painter(&image);
    const AxisMarks marks{{150, u"1,000,000"_s}};
    paintMarksBelow(painter, tokens, QRectF(0, 0, 150, 20), marks, 150);
    painter.end();
    bool any = false;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const bool painted = image.pixelColor(x, y) != QColor(Qt::white);
            any = any || painted;
            EXPECT_FALSE(painted && x > 150) << x;
        }
    }
    EXPECT_TRUE(any);
}

}  // namespace
}  // namespace ui
