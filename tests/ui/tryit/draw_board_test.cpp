#include "tryit/draw_board.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "theme/theme.h"

namespace ui {
namespace {

/// The share of the board that is white.
double ink(const DrawBoard& board) {
    double sum = 0;
    const engine::Picture picture = board.picture();
    for (const auto value : picture.rgb) sum += value / 255.0;
    return sum / static_cast<double>(picture.rgb.size());
}

struct DrawBoardTest : testing::Test {
    DrawBoardTest() { board.resize(280, 280); }
    Theme theme{Theme::Choice::light};
    DrawBoard board{&theme, 28, 28, true};
};

TEST_F(DrawBoardTest, APointIsADiscOfThePensWidthInTheModelsPixels) {
    board.setPen(4);
    QTest::mouseClick(&board, Qt::LeftButton, {}, {140, 140});
    // The area of a disc of diameter 4 on 28 x 28, except for its smoothed edge.
    EXPECT_NEAR(ink(board), 3.14159 * 4 / (28 * 28), 2e-4);
    EXPECT_FALSE(board.isBlank());
}

TEST_F(DrawBoardTest, TheRightButtonErasesUndoBringsBackAndClearEmpties) {
    QTest::mouseClick(&board, Qt::LeftButton, {}, {140, 140});
    const double drawn = ink(board);
    QTest::mouseClick(&board, Qt::RightButton, {}, {140, 140});
    EXPECT_LT(ink(board), drawn / 10);
    board.undo();
    EXPECT_EQ(ink(board), drawn);
    board.clear();
    EXPECT_EQ(ink(board), 0);
    EXPECT_TRUE(board.isBlank());
    board.undo();
    EXPECT_EQ(ink(board), drawn) << "clearing is taken back, too";
    board.undo();
    EXPECT_TRUE(board.isBlank());
}

TEST_F(DrawBoardTest, TheKeyboardMovesThePenAndDrawsWithShift) {
    QSignalSpy edited(&board, &DrawBoard::edited);
    QTest::keyClick(&board, Qt::Key_Right);
    EXPECT_EQ(edited.count(), 0);
    QTest::keyClick(&board, Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_EQ(edited.count(), 1);
    EXPECT_GT(ink(board), 0);
    QTest::keyClick(&board, Qt::Key_Delete);
    EXPECT_TRUE(board.isBlank());
}

TEST_F(DrawBoardTest, APictureOfAFileIsKeptExactlyUntilSomebodyDrawsOnIt) {
    engine::Picture picture{28, 28, std::vector<std::uint8_t>(28 * 28 * 3, 100)};
    board.show(picture);
    EXPECT_EQ(board.picture().rgb, picture.rgb);
    QTest::mouseClick(&board, Qt::LeftButton, {}, {140, 140});
    EXPECT_EQ(board.picture().width, 280);
    EXPECT_GT(ink(board), 100.0 / 255);
    EXPECT_NEAR(ink(board), 100.0 / 255, 0.02) << "the picture stays under the stroke";
}

TEST(DrawBoard, ABoardForColourPicturesIsNotDrawnOn) {
    Theme theme(Theme::Choice::light);
    DrawBoard board(&theme, 32, 32, false);
    board.resize(280, 280);
    QTest::mouseClick(&board, Qt::LeftButton, {}, {140, 140});
    EXPECT_TRUE(board.isBlank());
}

}  // namespace
}  // namespace ui
