#include "widgets/row_map.h"

#include <gtest/gtest.h>

#include <QScrollBar>
#include <QTest>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

constexpr int head = 20, foot = 10, least = 12, maxRows = 40;

class Map final : public RowMap {
public:
    Map() : RowMap({least, maxRows, head, foot}) {
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        resize(300, head + foot + 120);
        show();
    }
    void fill(int rows) {
        QStringList names;
        for (int i = 0; i < rows; ++i) names << u"layer %1"_s.arg(i);
        setRows(names);
    }
    using RowMap::firstInView, RowMap::footTop, RowMap::lastInView, RowMap::rowAt,
        RowMap::rowHeight, RowMap::topOf, RowMap::widestName;

    int chosen = 0;

protected:
    int selectedRow() const override { return chosen; }
    void selectRow(int row) override { chosen = row; }
};

TEST(RowMap, FewRowsShareTheRoomUpToTheirLargestHeight) {
    Map map;
    map.fill(4);
    EXPECT_EQ(map.rowHeight(), 30);
    EXPECT_EQ(map.verticalScrollBar()->maximum(), 0);
    map.fill(2);
    EXPECT_EQ(map.rowHeight(), maxRows);
    EXPECT_EQ(map.rowAt(head + 2 * maxRows + 1), -1) << "below the last row";
    EXPECT_EQ(map.footTop(), head + 2 * maxRows) << "an axis stands right below its rows";
    map.fill(100);
    EXPECT_EQ(map.footTop(), head + 120) << "at the lower edge";
}

TEST(RowMap, FindsTheRowUnderThePointerWhereverItIsScrolled) {
    Map map;
    map.fill(100);
    EXPECT_EQ(map.rowAt(head - 1), -1) << "the head";
    EXPECT_EQ(map.rowAt(head), 0);
    EXPECT_EQ(map.rowAt(head + 119), 9);
    EXPECT_EQ(map.rowAt(head + 120), -1) << "the foot";
    map.verticalScrollBar()->setValue(5 * least + 6);
    EXPECT_EQ(map.rowAt(head), 5);
    EXPECT_EQ(map.rowAt(head + 6), 6);
    EXPECT_EQ(map.firstInView(), 5);
    EXPECT_EQ(map.lastInView(), 16) << "the rows 5 and 15 are in view by half";
    EXPECT_EQ(map.topOf(6), head + 6);
}

TEST(RowMap, TheSelectionStaysInView) {
    Map map;
    map.fill(100);
    for (int i = 0; i < 10; ++i) QTest::keyClick(&map, Qt::Key_Down);
    EXPECT_EQ(map.chosen, 10);
    EXPECT_EQ(map.verticalScrollBar()->value(), least) << "the eleventh row came into view";
    QTest::keyClick(&map, Qt::Key_End);
    EXPECT_EQ(map.chosen, 99);
    EXPECT_EQ(map.verticalScrollBar()->value(), map.verticalScrollBar()->maximum());
    QTest::keyClick(&map, Qt::Key_Down);
    EXPECT_EQ(map.chosen, 99);
    QTest::keyClick(&map, Qt::Key_PageUp);
    EXPECT_EQ(map.chosen, 90);
    QTest::keyClick(&map, Qt::Key_Home);
    EXPECT_EQ(map.chosen, 0);
    EXPECT_EQ(map.verticalScrollBar()->value(), 0);
}

TEST(RowMap, MeasuresItsNamesOnce) {
    Map map;
    map.fill(3);
    EXPECT_EQ(map.widestName(), map.fontMetrics().horizontalAdvance(u"layer 0"_s));
    map.fill(0);
    EXPECT_EQ(map.widestName(), 0);
    QTest::keyClick(&map, Qt::Key_Down);
    EXPECT_EQ(map.chosen, 0) << "there is no row to go to";
}

}  // namespace
}  // namespace ui
