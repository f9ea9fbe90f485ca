#include "plots/axis_tickers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "text/format.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QVector<QString> labelsOf(QCPAxisTicker& ticker, const QCPRange& range) {
    QVector<double> ticks;
    QVector<QString> labels;
    ticker.generate(range, QLocale::c(), u'g', 6, ticks, nullptr, &labels);
    // QCustomPlot keeps one tick beyond each end of the range.
    QVector<QString> inside;
    for (qsizetype i = 0; i < ticks.size(); ++i) {
        if (range.contains(ticks[i])) inside << labels[i];
    }
    return inside;
}

TEST(Ticker, DrawsFewLabelsOnAnyRange) {
    for (const int most : {2, 3, 4, 7}) {
        for (int low = -40; low < 30; low += 3) {
            for (int decades = 1; decades < 60; decades += 2) {
                const QCPRange range(std::pow(10.0, low), std::pow(10.0, low + decades));
                const auto ticker = makeTicker(AxisKind::log);
                ticker->setMostLabels(most);
                const auto labels = labelsOf(*ticker, range);
                EXPECT_LE(labels.size(), most) << low << " " << decades;
                EXPECT_GE(labels.size(), decades > 2 * most ? 1 : 2) << low << " " << decades;
            }
        }
        for (int low = -24; low < 20; low += 5) {
            for (int powers = 2; powers < 150; powers += 3) {
                const auto ticker = makeTicker(AxisKind::log2);
                ticker->setMostLabels(most);
                const QCPRange range(std::ldexp(1.0, low), std::ldexp(1.0, low + powers));
                EXPECT_LE(labelsOf(*ticker, range).size(), most) << low << " " << powers;
            }
        }
    }
}

TEST(Ticker, WritesPowersOfTenBeyondFourDecades) {
    const auto ticker = makeTicker(AxisKind::log);
    const auto labels = labelsOf(*ticker, {1e-10, 1e2});
    EXPECT_TRUE(labels.contains(u"10⁻⁸"_s)) << labels.toList().join(u' ').toStdString();
    for (const auto& label : labels) EXPECT_TRUE(label.startsWith(u"10"_s));
    EXPECT_EQ(labelsOf(*ticker, {0.2, 5}),
              (QVector<QString>{u"0.2"_s, u"0.5"_s, u"1"_s, u"2"_s, u"5"_s}));
}

TEST(Ticker, TellsSharesThatAreCloseToEachOtherApart) {
    const auto ticker = makeTicker(AxisKind::share);
    EXPECT_EQ(labelsOf(*ticker, {0, 1}),
              (QVector<QString>{u"0\u202f%"_s, u"20\u202f%"_s, u"40\u202f%"_s, u"60\u202f%"_s,
                                u"80\u202f%"_s, u"100\u202f%"_s}));
    for (const QCPRange& range : {QCPRange(0.62, 0.66), QCPRange(0.6210, 0.6214)}) {
        const auto labels = labelsOf(*ticker, range);
        EXPECT_GE(labels.size(), 3);
        for (qsizetype i = 1; i < labels.size(); ++i) EXPECT_NE(labels[i - 1], labels[i]);
    }
}

TEST(Ticker, CountsTimeInRoundStridesOfTheClock) {
    const auto ticker = makeXTicker(XKind::time);
    EXPECT_EQ(labelsOf(*ticker, {0, 1}).back(), u"1\u202fs"_s);
    EXPECT_TRUE(labelsOf(*ticker, {0, 125}).contains(u"1:00"_s));
    EXPECT_LE(labelsOf(*ticker, {0, 400'000}).size(), 8);
}

TEST(RoundRange, HoldsTheDataOnEveryKindOfAxis) {
    const std::pair<double, double> data[] = {
        {0.012, 2.4}, {3, 3}, {0.5, 1}, {1024, 131072}, {1, 7e6}};
    for (const auto kind : {AxisKind::linear, AxisKind::log, AxisKind::log2, AxisKind::bytes}) {
        for (const auto& [low, high] : data) {
            const QCPRange range = roundRange(low, high, kind);
            EXPECT_LE(range.lower, low);
            EXPECT_GE(range.upper, high);
            EXPECT_LT(range.lower, range.upper);
        }
    }
}

TEST(RoundRange, EndsALogAxisAt125) {
    const QCPRange range = roundRange(0.23, 2.4, AxisKind::log);
    EXPECT_NEAR(range.lower, 0.2, 1e-12);
    EXPECT_NEAR(range.upper, 5, 1e-12);
}

TEST(RoundRange, EndsABase2AxisAtPowersOfTwo) {
    const QCPRange range = roundRange(3000, 65536, AxisKind::log2);
    EXPECT_EQ(std::log2(range.lower), std::floor(std::log2(range.lower)));
    EXPECT_EQ(std::log2(range.upper), std::floor(std::log2(range.upper)));
}

TEST(RoundRange, IsUsableWithoutUsableData) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto kind :
         {AxisKind::linear, AxisKind::log, AxisKind::log2, AxisKind::share, AxisKind::bytes}) {
        for (const auto& [low, high] :
             {std::pair{nan, nan}, std::pair{0.0, 0.0}, std::pair{-3.0, 0.0}}) {
            const QCPRange range = roundRange(low, high, kind);
            EXPECT_TRUE(std::isfinite(range.lower) && std::isfinite(range.upper));
            EXPECT_LT(range.lower, range.upper);
        }
    }
}

TEST(RoundRange, ShowsSharesFrom0To1) {
    const QCPRange range = roundRange(0.4, 0.5, AxisKind::share);
    EXPECT_EQ(range.lower, 0);
    EXPECT_EQ(range.upper, 1);
}

}  // namespace
}  // namespace ui
