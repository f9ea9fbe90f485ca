#include "xray/difference_table.h"

#include <QAbstractItemModelTester>

#include "xray/op_tree.h"
#include "xray/traces.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QString text(const DifferenceTable& table, int row, DifferenceTable::Column column) {
    return table.data(table.index(row, column), Qt::DisplayRole).toString();
}

TEST(DifferenceTable, ListsBothPrecisionsSideBySide) {
    const engine::Xray amp = test::ampTrace(), fp32 = test::fp32Trace();
    DifferenceTable table;
    const QAbstractItemModelTester tester(&table);
    table.show(&amp, &fp32);
    ASSERT_EQ(table.rowCount(), 3);
    EXPECT_EQ(text(table, 1, DifferenceTable::name), u"fc  linear"_s);
    EXPECT_EQ(text(table, 1, DifferenceTable::firstTime), u"50.0"_s);
    EXPECT_EQ(text(table, 1, DifferenceTable::secondTime), u"100"_s);
    EXPECT_EQ(text(table, 1, DifferenceTable::change), u"−50 %"_s);
    EXPECT_EQ(text(table, 2, DifferenceTable::change), u"0 %"_s);
    const auto types = [&](DifferenceTable::Column column) {
        return table.data(table.index(1, column), OpTree::typesRole).toStringList();
    };
    EXPECT_EQ(types(DifferenceTable::firstTypes), (QStringList{u"f32"_s, {}, u"f16"_s}));
    EXPECT_EQ(types(DifferenceTable::secondTypes), (QStringList{u"f32"_s, {}, u"f32"_s}));
}

TEST(DifferenceTable, MarksWhatOnePrecisionAloneHas) {
    const engine::Xray amp = test::ampTrace(), fp32 = test::fp32Trace();
    DifferenceTable table;
    table.show(&amp, &fp32);
    EXPECT_EQ(text(table, 0, DifferenceTable::name), u"to"_s);
    EXPECT_EQ(text(table, 0, DifferenceTable::secondTime), u"–"_s);
    EXPECT_EQ(text(table, 0, DifferenceTable::change), QString());
    EXPECT_EQ(table.pair(table.index(0, 0)).second, nullptr);
}

TEST(DifferenceTable, KeepsWhatPassesInEitherPrecision) {
    const engine::Xray amp = test::ampTrace(), fp32 = test::fp32Trace();
    DifferenceTable table;
    const QAbstractItemModelTester tester(&table);
    table.show(&amp, &fp32);
    table.setFilter({u"linear"_s, {}});
    EXPECT_EQ(table.rowCount(), 1);
    table.setFilter({{}, u"off"_s});
    EXPECT_EQ(table.rowCount(), 2);
    table.show(nullptr, nullptr);
    EXPECT_EQ(table.rowCount(), 0);
}

}  // namespace
}  // namespace ui
