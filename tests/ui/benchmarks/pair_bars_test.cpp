#include "benchmarks/pair_bars.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

TEST(BarColumns, AreOfOneWidthAndLieBesideOneAnother) {
    for (const int width : {560, 800, 1100, 3500}) {
        const BarColumns at = barColumns(width);
        double right = at.nameWidth;
        for (const auto& column : at.columns) {
            EXPECT_GT(column.bar, right) << width;
            EXPECT_GT(column.label, column.bar + column.barWidth) << width;
            EXPECT_DOUBLE_EQ(column.barWidth, at.columns[0].barWidth) << width;
            EXPECT_GT(column.labelWidth, 80) << width;
            right = column.label + column.labelWidth;
        }
        EXPECT_LE(right, width);
    }
}

}  // namespace
}  // namespace ui
