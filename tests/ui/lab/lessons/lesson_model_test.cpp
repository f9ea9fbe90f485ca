#include "lab/lessons/lesson_model.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "commands/commands.h"
#include "feed/event_feed.h"
#include "lesson_folder.h"
#include "models/settings_model.h"
#include "support/lesson_texts.h"
#include "text/language.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using test_support::number_lesson;
using test_support::small_lesson;
using Phase = LessonRuns::Phase;

constexpr int modelPatience = 60'000;  // ms

struct LessonModelTest : testing::Test {
    void openSmall() { model.openPath(writeLesson(folder, u"small"_s, small_lesson())); }
    void predict(const QString& end, double stop) {
        for (const auto& question : model.questions()) {
            Guess guess;
            if (question.kind == Question::Kind::choice)
                guess.key = end;
            else
                guess.number = stop;
            model.setGuess(question, guess);
        }
    }
    bool runToTheEnd() {
        model.runs()->start();
        return QTest::qWaitFor([&] { return model.ended(); }, modelPatience);
    }
    CheckRow row(const QString& id) {
        const auto rows = model.checkRows();
        const auto at = std::ranges::find(rows, id, &CheckRow::id);
        return at == rows.end() ? CheckRow{} : *at;
    }

    QTemporaryDir folder;
    Language language;
    EventFeed feed;
    SettingsModel settings;
    Commands commands{&feed, &settings};
    Context context{
        .language = &language, .feed = &feed, .settings = &settings, .commands = &commands};
    LessonModel model{context, nullptr, folder.filePath(u"lab.json"_s).toStdString()};
};

TEST_F(LessonModelTest, PredictUnlocksRun) {
    openSmall();
    ASSERT_TRUE(model.lesson());
    EXPECT_TRUE(model.lesson()->problems.empty());
    EXPECT_FALSE(model.runs()->buttons().compare.enabled);
    EXPECT_TRUE(model.runs()->buttons().compare.why.startsWith(u"Predict first"_s));
    predict(u"worse"_s, 7);
    EXPECT_TRUE(model.runs()->buttons().compare.enabled);
}

TEST_F(LessonModelTest, RunLocksThePredictionAndFillsTheChecks) {
    openSmall();
    predict(u"same"_s, 7);
    ASSERT_TRUE(runToTheEnd());
    EXPECT_TRUE(model.locked());
    predict(u"worse"_s, 1);
    EXPECT_EQ(model.guess(u"end"_s).key, u"same"_s) << "locked";
    const CheckRow stop = row(u"stop"_s), end = row(u"end"_s);
    EXPECT_TRUE(stop.final_);
    EXPECT_EQ(stop.measured, u"1"_s) << "the first step overflows at this scale";
    EXPECT_EQ(stop.verdict, u"6 steps too late"_s);
    EXPECT_EQ(stop.step, 1);
    EXPECT_EQ(end.measured, u"worse"_s);
    EXPECT_FALSE(end.right);
    EXPECT_EQ(end.hint, u"Look at the scale."_s);
}

TEST_F(LessonModelTest, WhyAndTryAreClosedUntilTheRunEnds) {
    openSmall();
    EXPECT_EQ(model.firstClosedStep(), 4) << "after Check";
    EXPECT_EQ(model.currentStep(), 1);
    predict(u"worse"_s, 1);
    EXPECT_EQ(model.currentStep(), 2);
    ASSERT_TRUE(runToTheEnd());
    EXPECT_EQ(model.currentStep(), 4);
    EXPECT_TRUE(row(u"end"_s).right);
    EXPECT_TRUE(row(u"stop"_s).right);
}

TEST_F(LessonModelTest, AKnobRunsAgainBesideTheFormerCurves) {
    openSmall();
    predict(u"worse"_s, 1);
    ASSERT_TRUE(runToTheEnd());
    const TrackList before = model.runs()->tracks();
    ASSERT_EQ(before.size(), 2u);
    model.runs()->setKnob(u"optimizer.lr"_s, u"0.1"_s);
    ASSERT_EQ(model.runs()->former().size(), 1u);
    EXPECT_EQ(model.runs()->former().front(), before);
    ASSERT_TRUE(QTest::qWaitFor([&] { return model.ended(); }, modelPatience));
    EXPECT_EQ(before[1]->rows(), 40) << "they keep their rows";
    EXPECT_NE(model.runs()->tracks()[1]->at(40).loss, before[1]->at(40).loss);
    EXPECT_EQ(engine::setting_text(model.runs()->tracks()[1]->config(), "optimizer.lr"), "0.1");
}

TEST_F(LessonModelTest, PauseAndStepActOnTheRuns) {
    openSmall();
    predict(u"worse"_s, 1);
    model.runs()->step();
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return model.runs()->phase() == Phase::paused; }, modelPatience));
    const auto tracks = model.runs()->tracks();
    ASSERT_EQ(tracks.size(), 2u);
    ASSERT_TRUE(QTest::qWaitFor([&] { return tracks[0]->rows() == 1 && tracks[1]->rows() == 1; },
                                modelPatience));
    model.runs()->step();
    EXPECT_TRUE(QTest::qWaitFor([&] { return tracks[0]->rows() == 2 && tracks[1]->rows() == 2; },
                                modelPatience));
    model.runs()->stop();
    EXPECT_TRUE(QTest::qWaitFor([&] { return model.ended(); }, modelPatience));
}

/// In another language the lesson is another text about the runs that are there.
TEST_F(LessonModelTest, AnotherLanguageKeepsAnswersAndRuns) {
    language.setChoice(u"en"_s);
    model.openPath(writeLesson(folder, u"small"_s, small_lesson()));
    writeLesson(folder, u"small.zh"_s, small_lesson("小：新"));
    model.openPath(folder.path());
    predict(u"worse"_s, 1);
    ASSERT_TRUE(runToTheEnd());
    const auto tracks = model.runs()->tracks();
    const QString measured = row(u"stop"_s).measured, verdict = row(u"end"_s).verdict;
    const auto before = model.lesson();
    language.setChoice(u"zh_CN"_s);
    EXPECT_NE(model.lesson(), before);
    EXPECT_EQ(model.lesson()->title, "小：新");
    EXPECT_EQ(model.runs()->tracks(), tracks);
    EXPECT_TRUE(model.ended());
    EXPECT_EQ(row(u"stop"_s).measured, measured);
    EXPECT_EQ(model.guess(u"end"_s).key, u"worse"_s);
    EXPECT_EQ(row(u"end"_s).verdict.isEmpty(), verdict.isEmpty());
    language.setChoice(u"en"_s);
    EXPECT_EQ(model.lesson()->title, before->title);
}

TEST_F(LessonModelTest, ReloadKeepsTheAnswersAndResetForgetsThem) {
    openSmall();
    predict(u"worse"_s, 5);
    writeLesson(folder, u"small"_s, small_lesson("Small: new"));
    model.reload();
    EXPECT_EQ(model.lesson()->title, "Small: new");
    EXPECT_EQ(model.guess(u"stop"_s).number, 5);
    model.reset();
    EXPECT_TRUE(model.guess(u"stop"_s).empty());
    EXPECT_FALSE(model.predicted());
}

TEST_F(LessonModelTest, ALessonWithoutRunsIsCheckedAtOnce) {
    model.openPath(writeLesson(folder, u"numbers"_s, number_lesson()));
    Guess guess;
    guess.number = 0.001;
    model.setGuess(model.questions().front(), guess);
    ASSERT_TRUE(runToTheEnd());
    EXPECT_TRUE(row(u"gap"_s).final_);
    EXPECT_EQ(row(u"gap"_s).measured, u"0.000977 units"_s);
    EXPECT_TRUE(row(u"gap"_s).right) << "within a tenth";
}

TEST_F(LessonModelTest, ALessonWithErrorsDoesNotRun) {
    model.openPath(writeLesson(folder, u"bad"_s, small_lesson() + "\n```nonsense\nx\n```\n"));
    predict(u"worse"_s, 1);
    EXPECT_FALSE(model.runs()->buttons().compare.enabled);
}

}  // namespace
}  // namespace ui
