#include "twin/twin_map.h"

#include <gtest/gtest.h>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// A shade can be read back on the strip: its steps are alike over the whole scale.
TEST(TwinLegend, ShadesDifferAlikeOverTheWholeScale) {
    for (const bool dark : {false, true}) {
        const Tokens t = dark ? darkTokens() : lightTokens();
        for (const QColor& run : {t.fp16, t.bf16}) {
            double least = 1e9;
            for (const double value : {0.003, 0.01, 0.03, 0.1, 0.3}) {
                const QColor a = twinColor(t, run, twinShade(value, false));
                const QColor b = twinColor(t, run, twinShade(value * 3, false));
                const double apart = std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) +
                                     std::abs(a.blue() - b.blue());
                least = std::min(least, apart);
            }
            EXPECT_GT(least, 25) << dark << " " << run.name().toStdString();
        }
    }
}

TEST(TwinLegend, TheScaleRunsFromATenthOfAPercentToAllOfIt) {
    EXPECT_EQ(twinShade(0.001, false), 0);
    EXPECT_NEAR(twinShade(0.01, false), 1.0 / 3, 1e-9);
    EXPECT_EQ(twinShade(1, false), 1);
    EXPECT_EQ(twinShade(90, true), 1);
}

}  // namespace
}  // namespace ui
