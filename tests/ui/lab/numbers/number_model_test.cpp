#include "lab/numbers/number_model.h"

#include <gtest/gtest.h>
#include <QSignalSpy>
#include <cmath>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(NumberModel, KeepsTheNumberWhileTheTextIsNone) {
    NumberModel model;
    EXPECT_EQ(model.text(), u"0.1"_s);
    model.setText(u"0.5"_s);
    model.setText(u"0.5x"_s);
    EXPECT_FALSE(model.problem().isEmpty());
    EXPECT_EQ(model.headline(), model.problem());
    EXPECT_EQ(model.number().value, 0.5);
    model.setText(u"0x3c00"_s);
    EXPECT_TRUE(model.problem().isEmpty());
    EXPECT_EQ(model.number().value, 1);
}

TEST(NumberModel, FlipsABitAndTakesItsValueAndFormat) {
    NumberModel model;
    model.setText(u"1"_s);
    const QSignalSpy changed(&model, &NumberModel::changed);
    model.flip(engine::fp8_e4m3_format, 7);
    EXPECT_EQ(changed.size(), 1);
    EXPECT_EQ(model.number().value, -1);
    EXPECT_EQ(model.text(), u"-1"_s);
    EXPECT_EQ(&model.format(), &engine::fp8_e4m3_format);
    EXPECT_EQ(model.stored(engine::fp16_format).bits, 0xbc00u);
    model.flip(engine::fp8_e4m3_format, 8);  // it has no such bit
    EXPECT_EQ(model.number().value, -1);
}

TEST(NumberModel, KeepsTheBitsOfANaNThatWereSetOneByOne) {
    NumberModel model;
    model.setText(u"inf"_s);
    model.flip(engine::fp16_format, 3);
    EXPECT_EQ(model.stored(engine::fp16_format).bits, 0x7c08u);
    EXPECT_TRUE(std::isnan(model.number().value));
    model.flip(engine::fp16_format, 3);
    EXPECT_EQ(model.stored(engine::fp16_format).bits, 0x7c00u);
    EXPECT_TRUE(std::isinf(model.number().value));
}

TEST(NumberModel, StepsToNeighboursAndStopsAtTheEnds) {
    NumberModel model;
    model.setText(u"65504"_s);
    model.step(1);
    EXPECT_TRUE(std::isinf(model.number().value));
    model.step(1);
    EXPECT_TRUE(std::isinf(model.number().value));
    model.step(-1);
    EXPECT_EQ(model.number().value, 65504);
    model.setText(u"0"_s);
    model.step(-1);
    EXPECT_EQ(model.number().value, -0x1p-24);
    EXPECT_EQ(model.text(), u"-2^-24"_s);
}

TEST(NumberModel, SaysWhichFormatsHoldTheNumber) {
    NumberModel model;
    EXPECT_EQ(model.headline(), u"No format holds 0.1 exactly."_s);
    model.setText(u"0.5"_s);
    EXPECT_EQ(model.headline(), u"All six formats hold 0.5 exactly."_s);
    model.setText(u"16777217"_s);
    EXPECT_EQ(model.headline(), u"No format holds 16777217 exactly."_s);
    model.setText(u"16777215"_s);
    EXPECT_EQ(model.headline(), u"Only FP32 holds 16777215 exactly."_s);
    model.setText(u"2^-100"_s);
    EXPECT_EQ(model.headline(), u"FP32, TF32 and BF16 hold 2^-100 exactly."_s);
    EXPECT_FALSE(model.explanation().isEmpty());
}

TEST(NumberModel, WritesALineForALesson) {
    NumberModel model;
    model.setText(u"2^-24"_s);
    EXPECT_EQ(model.lessonLine(), u"bits number: 2^-24 in fp16\n"_s);
    model.setText(u"3 * 2^-5"_s);
    model.setFormat(engine::fp8_e4m3_format);
    EXPECT_EQ(model.lessonLine(), u"bits number: 3*2^-5 in fp8-e4m3\n"_s);
}

}  // namespace
}  // namespace ui
