#include "lab/numbers/bit_table.h"

#include <gtest/gtest.h>

#include <QTest>

#include "lab/numbers/number_model.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct BitTableTest : testing::Test {
    BitTableTest() {
        model.setText(u"1"_s);
        table.resize(1300, 300);
        table.show();
    }
    void key(Qt::Key which) { QTest::keyClick(&table, which); }

    Theme theme;
    NumberModel model;
    BitTable table{&theme, &model};
};

TEST_F(BitTableTest, AlignsTheFractionsOfAllFormats) {
    for (const auto* format : engine::common_number_formats()) {
        const int first = table.bitRect(*format, format->fraction_bits - 1).left();
        EXPECT_EQ(first, table.bitRect(engine::fp32_format, 22).left()) << format->name;
        for (int bit = 1; bit < format->width(); ++bit)
            EXPECT_LT(table.bitRect(*format, bit).right(), table.bitRect(*format, bit - 1).left());
        EXPECT_GE(table.bitRect(*format, format->width() - 1).left(), 0);
    }
}

TEST_F(BitTableTest, FlipsTheBitThatIsClicked) {
    QTest::mouseClick(&table, Qt::LeftButton, {},
                      table.bitRect(engine::bf16_format, 6).center());  // 2^-1 of the fraction
    EXPECT_EQ(model.number().value, 1.5);
    EXPECT_EQ(&model.format(), &engine::bf16_format);
    EXPECT_EQ(table.currentBit(), 6);
}

TEST_F(BitTableTest, SelectsTheFormatOfARowWithoutChangingTheNumber) {
    const QPoint besides(1200, table.bitRect(engine::tf32_format, 0).center().y());
    QTest::mouseClick(&table, Qt::LeftButton, {}, besides);
    EXPECT_EQ(&model.format(), &engine::tf32_format);
    EXPECT_EQ(model.number().value, 1);
}

TEST_F(BitTableTest, MovesAmongBitsByArrowKeysAndFlipsBySpace) {
    EXPECT_EQ(table.currentBit(), 9);  // FP16: the first of the fraction
    key(Qt::Key_Space);
    EXPECT_EQ(model.number().value, 1.5);
    key(Qt::Key_Right);
    EXPECT_EQ(table.currentBit(), 8);
    key(Qt::Key_Left);
    key(Qt::Key_Left);
    EXPECT_EQ(table.currentBit(), 10);  // the last of the exponent
    key(Qt::Key_Home);
    EXPECT_EQ(table.currentBit(), 15);
    key(Qt::Key_Left);
    EXPECT_EQ(table.currentBit(), 15);
    key(Qt::Key_Space);
    EXPECT_EQ(model.number().value, -1.5);
    key(Qt::Key_End);
    key(Qt::Key_Right);
    EXPECT_EQ(table.currentBit(), 0);
    // Down: BF16 has fewer fraction bits. The cursor stays in its column if possible.
    key(Qt::Key_Down);
    EXPECT_EQ(&model.format(), &engine::bf16_format);
    EXPECT_EQ(table.currentBit(), 0);
    key(Qt::Key_Up);
    EXPECT_EQ(table.currentBit(), 0);
}

TEST_F(BitTableTest, TellsAScreenReaderWhichBitItIsAt) {
    EXPECT_FALSE(table.accessibleName().isEmpty());
    const QString before = table.accessibleDescription();
    key(Qt::Key_Space);
    EXPECT_NE(table.accessibleDescription(), before);
}

TEST_F(BitTableTest, ShowsEveryBitWithinTheWidthOfASmallWindow) {
    table.resize(1000, 260);
    EXPECT_LT(table.bitRect(engine::fp32_format, 0).right(), 1000);
    EXPECT_GT(table.bitRect(engine::fp32_format, 0).width(), 8);
}

}  // namespace
}  // namespace ui
