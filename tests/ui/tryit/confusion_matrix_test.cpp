#include "tryit/confusion_matrix.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QTest>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QColor middle(const QImage& image, const QRectF& cell) {
    // Left of the middle, where a small number has no digit.
    return image.pixelColor((cell.topLeft() + QPointF(3, 3)).toPoint());
}

TEST(ConfusionMatrix, ACellSaysHowManyOfAClassWereCalledAnother) {
    Theme theme(Theme::Choice::light);
    ConfusionMatrix matrix(&theme, "fp32");
    matrix.show({{80, 20}, {0, 0}}, {"Shirt", "T-shirt/top"});
    EXPECT_EQ(matrix.sentence(0, 1), u"20 of Shirt were called T-shirt/top (20.0\u202f%)"_s);
    EXPECT_EQ(matrix.sentence(0, 0), u"80 of Shirt were recognised (80.0\u202f%)"_s);
    EXPECT_EQ(matrix.sentence(1, 0), u"0 of T-shirt/top were called Shirt (\u2013)"_s);
}

TEST(ConfusionMatrix, ColoursByTheShareOfTheRow) {
    Theme theme(Theme::Choice::light);
    ConfusionMatrix matrix(&theme, "fp32");
    // The second row has a tenth of the samples, in the same proportions.
    matrix.show({{90, 10}, {1, 9}}, {"a", "b"});
    matrix.resize(400, 440);
    const QImage image = matrix.grab().toImage();
    EXPECT_EQ(middle(image, matrix.cell(0, 0)), middle(image, matrix.cell(1, 1)));
    EXPECT_EQ(middle(image, matrix.cell(0, 1)), middle(image, matrix.cell(1, 0)));
    EXPECT_NE(middle(image, matrix.cell(0, 0)), middle(image, matrix.cell(0, 1)));
}

TEST(ConfusionMatrix, AHundredClassesLieWithinItAndEachHasItsCell) {
    Theme theme(Theme::Choice::dark);
    ConfusionMatrix matrix(&theme, "fp32");
    std::vector<std::vector<std::int64_t>> cells(100, std::vector<std::int64_t>(100));
    for (std::size_t i = 0; i < 100; ++i) cells[i][i] = 5;
    matrix.show(cells, {});
    matrix.resize(300, 400);
    EXPECT_TRUE(QRectF(matrix.rect()).contains(matrix.cell(0, 0)));
    EXPECT_TRUE(QRectF(matrix.rect()).contains(matrix.cell(99, 99)));
    EXPECT_GE(matrix.cell(0, 0).width(), 2);
    const QImage image = matrix.grab().toImage();
    const auto at = [&](std::size_t row, std::size_t column) {
        return image.pixelColor(matrix.cell(row, column).center().toPoint());
    };
    EXPECT_NE(at(50, 50), at(50, 80)) << "the diagonal stands out";
}

TEST(ConfusionMatrix, ArrowKeysGoFromCellToCellAndReadThem) {
    Theme theme(Theme::Choice::light);
    ConfusionMatrix matrix(&theme, "fp32");
    matrix.show({{8, 2}, {1, 9}}, {"a", "b"});
    QTest::keyClick(&matrix, Qt::Key_Right);
    EXPECT_EQ(matrix.accessibleDescription(), matrix.sentence(0, 0));
    QTest::keyClick(&matrix, Qt::Key_Right);
    QTest::keyClick(&matrix, Qt::Key_Right);
    EXPECT_EQ(matrix.accessibleDescription(), matrix.sentence(0, 1));
    QTest::keyClick(&matrix, Qt::Key_Down);
    EXPECT_EQ(matrix.accessibleDescription(), matrix.sentence(1, 1));
}

}  // namespace
}  // namespace ui
