#include "lab/numbers/guess_card.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "lab/numbers/number_model.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct GuessCardTest : testing::Test {
    GuessCardTest() {
        cards.resize(500, 260);
        cards.show();
    }
    /// All text on a card.
    static QString read(const GuessCard* card) {
        QString out;
        for (const auto* label : card->findChildren<QLabel*>())
            if (label->isVisible()) out += label->text() + u'\n';
        return out;
    }
    static void guess(GuessCard* card, const QString& text) {
        QTest::keyClicks(card->guess(), text);
        QTest::keyClick(card->guess(), Qt::Key_Return);
    }

    Theme theme;
    NumberModel model;
    GuessCards cards{&theme, &model};
};

TEST_F(GuessCardTest, HidesTheAnswerUntilAGuessIsEntered) {
    auto* card = cards.cards().at(0);
    EXPECT_FALSE(read(card).contains(u"∞"_s));
    QTest::mouseClick(card, Qt::LeftButton, {}, QPoint(10, 10));
    EXPECT_FALSE(card->answered());
    guess(card, u"  "_s);
    EXPECT_FALSE(card->answered());
    card->guess()->clear();
    guess(card, u"65520"_s);
    EXPECT_TRUE(card->answered());
    EXPECT_TRUE(read(card).contains(u"∞"_s));
    EXPECT_TRUE(read(card).contains(u"65520"_s));
    EXPECT_FALSE(card->guess()->isVisible());
}

TEST_F(GuessCardTest, KnowsARightGuessHoweverItIsWritten) {
    auto* card = cards.cards().at(2);
    guess(card, u"2^11"_s);
    EXPECT_TRUE(read(card).contains(u"As you guessed."_s));
    auto* wrong = cards.cards().at(1);
    guess(wrong, u"2^-25"_s);
    EXPECT_TRUE(read(wrong).contains(u"2^-25"_s));
    EXPECT_FALSE(read(wrong).contains(u"As you guessed."_s));
}

TEST_F(GuessCardTest, ShowsItsNumberOnceAnswered) {
    model.setText(u"7"_s);
    model.setFormat(engine::bf16_format);
    auto* card = cards.cards().at(2);
    guess(card, u"2049"_s);
    EXPECT_EQ(model.text(), u"2049"_s);
    EXPECT_EQ(&model.format(), &engine::fp16_format);
    model.setText(u"7"_s);
    QTest::mouseClick(card, Qt::LeftButton, {}, QPoint(10, 10));
    EXPECT_EQ(model.text(), u"2049"_s);
    model.setText(u"7"_s);
    QTest::keyClick(card, Qt::Key_Space);
    EXPECT_EQ(model.text(), u"2049"_s);
    card->reset();
    EXPECT_FALSE(card->answered());
    EXPECT_FALSE(read(card).contains(u"2049"_s));
}

}  // namespace
}  // namespace ui
