#include "lab/lesson_page/curve_sketch.h"

#include <gtest/gtest.h>

#include <QTest>
#include <algorithm>

#include "theme/theme.h"

namespace ui {
namespace {

struct CurveSketchTest : testing::Test {
    CurveSketchTest() {
        sketch.resize(600, 200);
        sketch.show();
    }
    Theme theme;
    CurveSketch sketch{&theme, {0, 630, 0, 1, false, QStringLiteral("loss")}};
};

TEST_F(CurveSketchTest, AStrokeFillsTheStepsThatTheMouseSkips) {
    QTest::mousePress(&sketch, Qt::LeftButton, {}, {100, 150});
    QTest::mouseMove(&sketch, {500, 50});
    QTest::mouseRelease(&sketch, Qt::LeftButton, {}, {500, 50});
    const auto curve = sketch.curve();
    ASSERT_GT(curve.size(), 30);
    const auto steps = [](const QPointF& a, const QPointF& b) { return a.x() < b.x(); };
    const auto values = [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); };
    EXPECT_TRUE(std::ranges::is_sorted(curve, steps));
    EXPECT_TRUE(std::ranges::is_sorted(curve, values)) << "a straight stroke upwards";
}

TEST_F(CurveSketchTest, ShowsTheCurveThatItIsGiven) {
    const QList<QPointF> given{{0, 0.25}, {630, 0.75}};
    sketch.setCurve(given);
    EXPECT_EQ(sketch.curve(), given);
}

TEST_F(CurveSketchTest, IsDrawnAndClearedWithTheKeys) {
    QTest::keyClick(&sketch, Qt::Key_Up);
    ASSERT_EQ(sketch.curve().size(), 1);
    EXPECT_NEAR(sketch.curve().front().y(), 0.51, 1e-12);
    QTest::keyClick(&sketch, Qt::Key_Right);
    QTest::keyClick(&sketch, Qt::Key_Down, Qt::ShiftModifier);
    ASSERT_EQ(sketch.curve().size(), 2);
    EXPECT_NEAR(sketch.curve().back().y(), 0.41, 1e-12);
    QTest::keyClick(&sketch, Qt::Key_Delete);
    EXPECT_TRUE(sketch.curve().isEmpty());
}

}  // namespace
}  // namespace ui
