#include "panels/queue/sweep_plot.h"

#include <gtest/gtest.h>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::SweepRow row(const std::string& label, double best) {
    engine::SweepRow out;
    out.label = label;
    out.best = {best, 0.5};
    return out;
}

TEST(SweepCurves, AreTheFirstFieldAgainstTheMetricForEachRestOfTheFields) {
    const auto found = sweepCurves({row("optimizer.lr=0.1 batch_size=8", 3),
                                    row("optimizer.lr=0.1 batch_size=16", 4),
                                    row("optimizer.lr=0.001 batch_size=8", 1)});
    EXPECT_EQ(found.field, u"optimizer.lr"_s);
    EXPECT_TRUE(found.logarithmic);
    EXPECT_TRUE(found.values.isEmpty());
    ASSERT_EQ(found.curves.size(), 2u);
    EXPECT_EQ(found.curves[0].name, u"batch_size=8"_s);
    ASSERT_EQ(found.curves[0].dots.size(), 2u);
    EXPECT_EQ(found.curves[0].dots[0].x, 0.001);
    EXPECT_EQ(found.curves[0].dots[0].y, 1);
    EXPECT_EQ(found.curves[0].dots[0].spread, 0.5);
    EXPECT_EQ(found.curves[0].dots[1].x, 0.1);
}

TEST(SweepCurves, ValuesThatAreNoNumbersStandInTheirOrder) {
    const auto found = sweepCurves({row("optimizer.kind=sgd", 2), row("optimizer.kind=adam", 3)});
    EXPECT_EQ(found.values, (QStringList{u"adam"_s, u"sgd"_s}));
    EXPECT_FALSE(found.logarithmic);
    ASSERT_EQ(found.curves.size(), 1u);
    EXPECT_EQ(found.curves[0].dots[0].y, 3);
}

TEST(SweepCurves, APointWithoutAFigureIsLeftOut) {
    EXPECT_TRUE(sweepCurves({row("optimizer.lr=1", std::nan(""))}).curves.empty());
    EXPECT_TRUE(sweepCurves({}).curves.empty());
}

TEST(SweepPlot, DescribesItsPointsInWords) {
    Theme theme;
    SweepPlot plot(&theme);
    plot.setRows({row("optimizer.lr=0.1", 0.25), row("optimizer.lr=0.2", 0.5)}, u"loss"_s);
    EXPECT_EQ(plot.accessibleDescription(),
              u"Learning rate 0.1: 0.250; Learning rate 0.2: 0.500"_s);
    EXPECT_EQ(plot.graphCount(), 1);
    EXPECT_EQ(plot.xAxis->label(), u"Learning rate"_s);
}

TEST(SweepPlot, ColoursOfPrecisionsMeanPrecisionsAlone) {
    Theme theme;
    SweepPlot plot(&theme);
    plot.setRows(
        {row("optimizer.lr=0.1 batch_size=8", 1), row("optimizer.lr=0.1 batch_size=16", 2)},
        u"loss"_s);
    ASSERT_EQ(plot.graphCount(), 2);
    for (int i = 0; i < 2; ++i) {
        for (const auto* preset : {"fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16"})
            EXPECT_NE(plot.graph(i)->pen().color(), theme.precision(preset));
    }
    EXPECT_EQ(plot.graph(0)->name(), u"Batch size 8"_s);
    plot.setRows({row("optimizer.lr=0.1 precision.preset=fp32", 1),
                  row("optimizer.lr=0.1 precision.preset=amp-fp16", 2)},
                 u"loss"_s);
    EXPECT_EQ(plot.graph(1)->pen().color(), theme.precision("amp-fp16"));
}

TEST(SweepPlot, HasNoRangeBeforeTheFirstResult) {
    Theme theme;
    SweepPlot plot(&theme);
    plot.setRows({row("optimizer.lr=0.1", std::nan(""))}, u"loss"_s);
    EXPECT_FALSE(plot.xAxis->tickLabels());
    EXPECT_FALSE(plot.yAxis->tickLabels());
}

}  // namespace
}  // namespace ui
