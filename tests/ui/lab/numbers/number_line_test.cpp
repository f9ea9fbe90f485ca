#include "lab/numbers/number_line.h"

#include <gtest/gtest.h>

#include <QTest>
#include <cmath>

#include "lab/numbers/number_model.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct NumberLineTest : testing::Test {
    NumberLineTest() {
        line.resize(1300, 130);
        line.show();
    }
    Theme theme;
    NumberModel model;
    NumberLine line{&theme, &model};
};

TEST_F(NumberLineTest, IsLogarithmic) {
    EXPECT_NEAR(line.xOf(2) - line.xOf(1), line.xOf(-99) - line.xOf(-100), 1e-9);
    EXPECT_NEAR(line.exponentAt(line.xOf(-24)), -24, 1e-9);
}

TEST_F(NumberLineTest, TakesTheMagnitudeWhereItIsDraggedAndKeepsTheSign) {
    model.setText(u"-0.1"_s);
    const auto at = [&](double exponent) {
        return QPoint(static_cast<int>(std::lround(line.xOf(exponent))), 60);
    };
    QTest::mousePress(&line, Qt::LeftButton, {}, at(-3));
    QTest::mouseMove(&line, at(10));
    QTest::mouseRelease(&line, Qt::LeftButton, {}, at(10));
    // A pixel is a quarter of a power of two here. Numbers have three digits.
    EXPECT_NEAR(std::log2(-model.number().value), 10, 0.3);
    EXPECT_LE(model.text().size(), 7);
    QTest::mouseClick(&line, Qt::LeftButton, {}, QPoint(0, 60));
    EXPECT_LT(model.number().value, 0);
    EXPECT_GT(model.number().value, -0x1p-148);
}

TEST_F(NumberLineTest, HalvesAndDoublesByArrowKeys) {
    model.setText(u"3"_s);
    QTest::keyClick(&line, Qt::Key_Left);
    EXPECT_EQ(model.number().value, 1.5);
    QTest::keyClick(&line, Qt::Key_Right);
    QTest::keyClick(&line, Qt::Key_Right);
    EXPECT_EQ(model.number().value, 6);
    model.setText(u"inf"_s);
    QTest::keyClick(&line, Qt::Key_Left);
    EXPECT_TRUE(std::isinf(model.number().value));
}

}  // namespace
}  // namespace ui
