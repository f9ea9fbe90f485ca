#include "lab/lessons/lesson_notes.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct LessonNotesTest : testing::Test {
    std::filesystem::path file() const { return folder.filePath(u"lab.json"_s).toStdString(); }
    static Question question(Question::Kind kind) {
        Question out;
        out.id = u"stop"_s;
        out.kind = kind;
        out.low = 0;
        out.high = 64;
        out.choices = {{u"a"_s, u"first"_s}, {u"b"_s, u"second"_s}};
        return out;
    }
    QTemporaryDir folder;
};

TEST_F(LessonNotesTest, AnswersAreThereAtTheNextStart) {
    Guess choice, number;
    choice.key = u"b"_s;
    number.number = 12.5;
    {
        LessonNotes notes(file());
        notes.setGuess(u"one"_s, question(Question::Kind::choice), choice);
        notes.setGuess(u"two"_s, question(Question::Kind::range), number);
        notes.setRead(u"two"_s, 3, 6);
    }
    const LessonNotes later(file());
    EXPECT_EQ(later.guess(u"one"_s, question(Question::Kind::choice)).key, u"b"_s);
    EXPECT_EQ(later.guess(u"two"_s, question(Question::Kind::range)).number, 12.5);
    EXPECT_EQ(later.progress(u"two"_s), 0.5);
    EXPECT_EQ(later.progress(u"three"_s), 0);
}

TEST_F(LessonNotesTest, ADrawnCurveIsKeptAtEvenlySpacedSteps) {
    Guess drawn;
    drawn.curve = {{0, 1}, {64, 0}};
    LessonNotes notes(file());
    const Question asked = question(Question::Kind::curve);
    notes.setGuess(u"one"_s, asked, drawn);
    const auto kept = notes.guess(u"one"_s, asked).curve;
    ASSERT_EQ(kept.size(), 65);
    EXPECT_NEAR(kept[16].x(), 16, 1e-9);
    EXPECT_NEAR(kept[16].y(), 0.75, 1e-9);
}

TEST_F(LessonNotesTest, ResetForgetsOneLesson) {
    Guess guess;
    guess.key = u"a"_s;
    LessonNotes notes(file());
    for (const QString& lesson : {u"one"_s, u"two"_s})
        notes.setGuess(lesson, question(Question::Kind::choice), guess);
    notes.reset(u"one"_s);
    EXPECT_TRUE(notes.guess(u"one"_s, question(Question::Kind::choice)).empty());
    EXPECT_FALSE(notes.guess(u"two"_s, question(Question::Kind::choice)).empty());
}

TEST_F(LessonNotesTest, AFileThatCannotBeReadIsLeftAsItIs) {
    QFile broken(QString::fromStdString(file().string()));
    ASSERT_TRUE(broken.open(QIODevice::WriteOnly));
    broken.write("not JSON");
    broken.close();
    LessonNotes notes(file());
    EXPECT_FALSE(notes.problem().empty());
    notes.setRead(u"one"_s, 1, 2);
    ASSERT_TRUE(broken.open(QIODevice::ReadOnly));
    EXPECT_EQ(broken.readAll(), "not JSON");
}

}  // namespace
}  // namespace ui
