#include "lab/numbers/calculator_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/numbers/calculator_table.h"
#include "lab/numbers/number_model.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using Operation = CalculatorModel::Operation;

TEST(CalculatorModel, SumsInEachFormatsOwnAccumulatorAndInTheChosenOne) {
    CalculatorModel model;
    ASSERT_EQ(model.rows().size(), 6u);
    const auto& half = model.rows()[2];
    EXPECT_EQ(half.own.sum, 4);
    EXPECT_EQ(half.own.stalls_after, 3070);
    EXPECT_NEAR(half.chosen.sum, 10.004, 1e-3);
    EXPECT_NEAR(model.exact(), 10, 1e-12);
    model.setAccumulator(engine::fp8_e5m2_format);
    EXPECT_EQ(model.rows()[5].chosen.sum, model.rows()[5].own.sum);
    EXPECT_LT(model.rows()[0].chosen.sum, 0.1);
}

TEST(CalculatorModel, AddsAndMultipliesAndKeepsTheOperandsOfEach) {
    CalculatorModel model;
    model.setOperation(Operation::add);
    EXPECT_TRUE(std::isinf(model.rows()[2].result));
    EXPECT_EQ(model.rows()[0].result, 65520);
    EXPECT_TRUE(std::isnan(model.rows()[4].result));
    model.setFirst(u"3"_s);
    model.setOperation(Operation::multiply);
    EXPECT_EQ(model.rows()[1].result, 48);
    model.setOperation(Operation::sum);
    EXPECT_EQ(model.first(), u"0.001"_s);
    model.setOperation(Operation::add);
    EXPECT_EQ(model.first(), u"3"_s);
}

TEST(CalculatorModel, KeepsItsResultsWhileAnOperandIsNone) {
    CalculatorModel model;
    model.setFirst(u"0.001x"_s);
    EXPECT_FALSE(model.problem().isEmpty());
    EXPECT_EQ(model.rows()[2].own.sum, 4);
    model.setFirst(u"0.001"_s);
    for (const auto& bad : {u"x"_s, u"-1"_s, u"1000001"_s, QString()}) {
        model.setSecond(bad);
        EXPECT_FALSE(model.problem().isEmpty()) << bad.toStdString();
    }
    model.setSecond(u"1,000"_s);
    EXPECT_TRUE(model.problem().isEmpty());
    EXPECT_EQ(model.terms(), 1000);
    model.setSecond(u"0"_s);
    EXPECT_EQ(model.rows()[0].own.sum, 0);
}

TEST(CalculatorModel, WritesTheSumAsALineOfALesson) {
    CalculatorModel model;
    EXPECT_EQ(model.lessonLine(engine::fp16_format),
              u"sum total: 0.001 x 10000 in fp16 accumulate fp16\n"_s);
    EXPECT_EQ(model.lessonLine(engine::tf32_format),
              u"sum total: 0.001 x 10000 in tf32 accumulate fp32\n"_s);
    model.setOperation(Operation::add);
    EXPECT_EQ(model.lessonLine(engine::fp16_format), QString());
}

TEST(CalculatorModel, HasATableThatSaysWhatTf32Lacks) {
    const Theme theme;
    NumberModel number;
    CalculatorModel model;
    const CalculatorTable table(&theme, &number, &model);
    EXPECT_EQ(table.texts(model.rows()[1]).at(2), u"always FP32"_s);
    EXPECT_EQ(table.texts(model.rows()[2]).mid(2, 2), QStringList({u"4"_s, u"3,070 terms"_s}));
    EXPECT_EQ(table.texts(model.rows()[0]).at(3), u"no stall"_s);
}

}  // namespace
}  // namespace ui
