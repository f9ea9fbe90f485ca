#include "plots/axis_tickers.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QVector<QString> labelsOf(AxisKind kind, const QCPRange& range, int most = 7) {
    AxisTicker ticker(kind);
    ticker.setMostLabels(most);
    QVector<double> ticks;
    QVector<QString> labels;
    ticker.generate(range, QLocale::c(), u'g', 6, ticks, nullptr, &labels);
    return labels;
}

TEST(AxisTicker, TakesTicksAndLabelsFromTheAxis) {
    EXPECT_EQ(labelsOf(AxisKind::log, {0.2, 5}),
              (QVector<QString>{u"0.2"_s, u"0.5"_s, u"1"_s, u"2"_s, u"5"_s}));
    EXPECT_EQ(labelsOf(axisKind(XKind::step), {0, 3000}),
              (QVector<QString>{u"0"_s, u"1,000"_s, u"2,000"_s, u"3,000"_s}));
    EXPECT_TRUE(labelsOf(axisKind(XKind::clock), {0, 125}).contains(u"1:00"_s));
    EXPECT_LE(labelsOf(AxisKind::log2, {0x1p-24, 0x1p40}, 3).size(), 3);
}

}  // namespace
}  // namespace ui
