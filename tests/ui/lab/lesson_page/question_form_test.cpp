#include "lab/lesson_page/question_form.h"

#include <gtest/gtest.h>

#include <QLineEdit>
#include <QRadioButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

Question choice() {
    Question question;
    question.id = u"end"_s;
    question.text = u"How will it end?"_s;
    question.choices = {{u"same"_s, u"the same"_s}, {u"early"_s, u"early"_s}, {u"nan"_s, u"NaN"_s}};
    return question;
}

TEST(QuestionForm, ANumberKeyChooses) {
    Theme theme;
    QuestionForm form(&theme, choice());
    QSignalSpy answered(&form, &QuestionForm::answered);
    EXPECT_TRUE(form.guess().empty());
    EXPECT_TRUE(form.choose(2));
    EXPECT_EQ(form.guess().key, u"early"_s);
    EXPECT_EQ(answered.size(), 1);
    EXPECT_FALSE(form.choose(4)) << "there are three";
}

TEST(QuestionForm, ALockedAnswerCannotBeChanged) {
    Theme theme;
    QuestionForm form(&theme, choice());
    form.choose(1);
    form.setLocked(true);
    EXPECT_FALSE(form.choose(2));
    for (auto* button : form.findChildren<QRadioButton*>())
        QTest::mouseClick(button, Qt::LeftButton);
    EXPECT_EQ(form.guess().key, u"same"_s);
}

TEST(QuestionForm, MostHandsMakeTheAnswerOfAClass) {
    Theme theme;
    QuestionForm form(&theme, choice());
    form.showHands();
    const auto hands = form.findChildren<QSpinBox*>();
    ASSERT_EQ(hands.size(), 3);
    hands[0]->setValue(4);
    EXPECT_EQ(form.guess().key, u"same"_s);
    hands[2]->setValue(17);
    hands[1]->setValue(9);
    EXPECT_EQ(form.guess().key, u"nan"_s);
    EXPECT_EQ(form.guess().hands.at(u"early"_s), 9);
}

TEST(QuestionForm, ANumberIsReadAsItIsTyped) {
    Theme theme;
    Question question;
    question.kind = Question::Kind::number;
    question.unit = u"gaps"_s;
    QuestionForm form(&theme, question);
    auto* field = form.findChild<QLineEdit*>();
    ASSERT_NE(field, nullptr);
    QTest::keyClicks(field, u"0.25"_s);
    EXPECT_EQ(form.guess().number, 0.25);
    field->clear();
    QTest::keyClicks(field, u"-"_s);
    EXPECT_TRUE(form.guess().empty()) << "not a number yet";
}

TEST(QuestionForm, ShowsAnAnswerThatWasGivenBefore) {
    Theme theme;
    QuestionForm form(&theme, choice());
    QSignalSpy answered(&form, &QuestionForm::answered);
    Guess guess;
    guess.key = u"nan"_s;
    form.setGuess(guess);
    EXPECT_TRUE(form.findChildren<QRadioButton*>()[2]->isChecked());
    EXPECT_TRUE(answered.isEmpty());
}

}  // namespace
}  // namespace ui
