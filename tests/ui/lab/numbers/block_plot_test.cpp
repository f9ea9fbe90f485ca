#include "lab/numbers/block_plot.h"

#include <gtest/gtest.h>

#include <QTest>
#include <cmath>

#include "lab/numbers/block_model.h"
#include "theme/theme.h"

namespace ui {
namespace {

struct BlockPlotTest : testing::Test {
    BlockPlotTest() {
        plot.resize(1000, 300);
        plot.show();
    }
    QPoint in(int index, double exponent) const {
        return {static_cast<int>(plot.columnRect(index).center().x()),
                static_cast<int>(plot.yOf(exponent))};
    }
    double number() const { return model.numbers()[static_cast<std::size_t>(model.selected())]; }

    Theme theme;
    BlockModel model;
    BlockPlot plot{&theme, &model};
};

TEST_F(BlockPlotTest, NeighboursSinkToZeroAsANumberIsDraggedUp) {
    model.setKind(engine::BlockKind::mxfp4);
    const int before = model.zeroed();
    QTest::mousePress(&plot, Qt::LeftButton, {}, in(7, 0));
    EXPECT_EQ(model.selected(), 7);
    QTest::mouseMove(&plot, in(7, 6));
    EXPECT_NEAR(std::log2(std::fabs(number())), 6, 0.3);
    EXPECT_GT(model.zeroed(), before);
    EXPECT_GT(model.zeroed(), 20);
    EXPECT_FALSE(model.element(7).zeroed);
    model.reset();
    EXPECT_EQ(model.zeroed(), before);
}

TEST_F(BlockPlotTest, OnlyNeighboursInItsBlockSink) {
    model.setKind(engine::BlockKind::nvfp4);
    model.select(20);  // of the second block of 16
    model.setExponent(6);
    int first = 0, second = 0;
    for (int i = 0; i < BlockModel::count; ++i)
        (i < 16 ? first : second) += model.element(i).zeroed ? 1 : 0;
    EXPECT_LT(first, 4);
    EXPECT_GT(second, 10);
}

TEST_F(BlockPlotTest, KeysChooseAndChangeANumber) {
    model.select(3);
    const double before = number();
    for (const auto key : {Qt::Key_Up, Qt::Key_Space}) QTest::keyClick(&plot, key);
    EXPECT_NEAR(number(), -2 * before, std::fabs(before) * 0.01);
    QTest::keyClick(&plot, Qt::Key_Down);
    QTest::keyClick(&plot, Qt::Key_Right);
    EXPECT_EQ(model.selected(), 4);
    EXPECT_TRUE(plot.accessibleDescription().startsWith(QStringLiteral("Number 5 is")));
}

TEST_F(BlockPlotTest, DrawsTakeBothNeighboursByTheirChance) {
    model.setKind(engine::BlockKind::mxfp4);
    const auto random = model.atRandom(10'000);
    EXPECT_NEAR(static_cast<double>(random.highs) / 10'000, random.chance, 0.02);
    EXPECT_EQ(random.lows + random.highs, 10'000);
}

}  // namespace
}  // namespace ui
