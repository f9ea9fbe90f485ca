#include "lab/lesson_page/range_slider.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "theme/theme.h"

namespace ui {
namespace {

TEST(RangeSlider, HoldsNoAnswerUntilItIsMoved) {
    Theme theme;
    RangeSlider slider(&theme, 0, 3000);
    EXPECT_FALSE(slider.value());
    QTest::keyClick(&slider, Qt::Key_Right);
    EXPECT_EQ(slider.value(), 1510);
}

TEST(RangeSlider, MovesTenTimesAsFarWithShift) {
    Theme theme;
    RangeSlider slider(&theme, 0, 3000);
    slider.setValue(1000);
    ASSERT_EQ(slider.step(), 10);
    QTest::keyClick(&slider, Qt::Key_Right);
    EXPECT_EQ(slider.value(), 1010);
    QTest::keyClick(&slider, Qt::Key_Left, Qt::ShiftModifier);
    EXPECT_EQ(slider.value(), 910);
}

TEST(RangeSlider, ReachesWholeNumbersBetweenItsSteps) {
    Theme theme;
    RangeSlider whole(&theme, 65504, 65544);  // of the lesson on overflow
    EXPECT_EQ(whole.step(), 1);
    EXPECT_EQ(whole.written(65520), QStringLiteral("65,520"));
    RangeSlider wide(&theme, 0, 3000);
    wide.setValue(1000);
    QTest::keyClick(&wide, Qt::Key_Right, Qt::ControlModifier);
    EXPECT_EQ(wide.value(), 1001);
    QTest::keyClick(&wide, Qt::Key_Right, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(wide.value(), 1011);
}

TEST(RangeSlider, StaysWithinItsEnds) {
    Theme theme;
    RangeSlider slider(&theme, 0, 1);
    QSignalSpy moved(&slider, &RangeSlider::moved);
    QTest::keyClick(&slider, Qt::Key_End);
    EXPECT_EQ(slider.value(), 1);
    QTest::keyClick(&slider, Qt::Key_Right);
    EXPECT_EQ(slider.value(), 1);
    EXPECT_EQ(moved.size(), 1) << "nothing moved the second time";
    QTest::keyClick(&slider, Qt::Key_Home);
    EXPECT_EQ(slider.value(), 0);
}

TEST(RangeSlider, WritesFractionsWithTheDigitsOfItsStep) {
    Theme theme;
    const RangeSlider fine(&theme, 0, 1);
    EXPECT_EQ(fine.written(0.5), QStringLiteral("0.50"));
    const RangeSlider coarse(&theme, 0, 30000);
    EXPECT_EQ(coarse.written(1200), QStringLiteral("1,200"));
}

}  // namespace
}  // namespace ui
