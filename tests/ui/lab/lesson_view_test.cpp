#include "lab/lesson_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/lab_page.h"
#include "lab/lesson_column.h"
#include "lab/lesson_list.h"
#include "lab/lesson_plots.h"
#include "lab/lesson_step.h"
#include "lab/present_window.h"
#include "lab/question_form.h"
#include "lesson_texts.h"
#include "panels/command_bar.h"
#include "panels/step_chooser.h"
#include "plots/line_plot.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

constexpr int patience = 60'000;  // ms

/// The window with a lesson opened as from the command line.
struct LessonViewTest : WindowFixture {
    LessonViewTest() {
        qputenv("XDG_DATA_HOME", data.path().toUtf8());
        commands.openPath(writeLesson(data, u"small"_s, smallLesson()));
        view = window->findChild<LessonView*>();
    }
    bool run() {
        view->column()->questions()[0]->choose(2);
        Guess stop;
        stop.number = 7;
        view->model()->setGuess(view->model()->questions()[1], stop);
        commands.compare();
        return QTest::qWaitFor([&] { return view->model()->ended(); }, patience);
    }
    std::vector<LessonStep*> steps() const {
        const auto found = view->column()->findChildren<LessonStep*>();
        return {found.begin(), found.end()};
    }
    QPushButton* primary() const {
        return window->findChild<CommandBar*>()->findChild<QPushButton*>(u"primary"_s);
    }

    QTemporaryDir data;
    LessonView* view = nullptr;
};

TEST_F(LessonViewTest, OpensFromAPathOnTheLabPage) {
    ASSERT_NE(view, nullptr);
    EXPECT_TRUE(view->isVisible());
    EXPECT_EQ(view->model()->name(), u"small"_s);
    ASSERT_EQ(steps().size(), 6u);
    EXPECT_EQ(steps()[0]->title(), u"Read"_s);
}

TEST_F(LessonViewTest, CommandBarAndStepChooserActOnTheLesson) {
    ASSERT_NE(view, nullptr);
    EXPECT_EQ(primary()->text(), u"Run lesson"_s);
    EXPECT_FALSE(primary()->isEnabled()) << "nothing is predicted";
    ASSERT_TRUE(run());
    EXPECT_TRUE(feed.tracks().empty()) << "not an experiment";
    auto* chooser = window->findChild<StepChooser*>();
    EXPECT_TRUE(chooser->isVisible());
    view->model()->runs()->link()->select(3);
    EXPECT_EQ(link.selected(), 0) << "the other pages' selection stays";
    commands.showPage(u"training"_s);
    EXPECT_NE(primary()->text(), u"Run again"_s);
    EXPECT_FALSE(chooser->isVisible());
}

TEST_F(LessonViewTest, WhyOpensWithTheEndOfTheRun) {
    ASSERT_NE(view, nullptr);
    EXPECT_FALSE(steps()[4]->isOpen());
    ASSERT_TRUE(run());
    QTest::qWait(50);
    EXPECT_TRUE(steps()[4]->isOpen());
    EXPECT_TRUE(view->column()->questions()[0]->isLocked());
}

TEST_F(LessonViewTest, ThePredictionIsADashedLineBesideTheMeasuredOne) {
    ASSERT_NE(view, nullptr);
    ASSERT_TRUE(run());
    const auto* plots = view->column()->findChild<LessonPlots*>();
    ASSERT_NE(plots, nullptr);
    const auto& content = plots->plots().front()->content();
    EXPECT_EQ(content.curves.size(), 2u);
    ASSERT_EQ(content.marks.size(), 2u);
    EXPECT_TRUE(content.marks[0].dashed);
    EXPECT_EQ(content.marks[0].at.step, 7);
    EXPECT_FALSE(content.marks[1].dashed);
    EXPECT_EQ(content.marks[1].at.step, 1);
    EXPECT_EQ(plots->plots()[1]->content().curves.size(), 1u) << "loss_scale of one run";
}

TEST_F(LessonViewTest, ABrokenBlockIsReplacedByItsLineAndSentence) {
    commands.openPath(writeLesson(data, u"bad"_s,
                                  "---\ntitle: Bad\nchapter: Tests\n---\n## Read\ntext\n"
                                  "```nonsense\nx\n```\n"));
    ASSERT_NE(view, nullptr);
    ASSERT_EQ(view->model()->name(), u"bad"_s);
    const auto labels = view->column()->findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(
        labels, [](const QLabel* label) { return label->text().startsWith(u"Line 7: "_s); }));
}

TEST_F(LessonViewTest, PresentShowsOneStepAndPageDownStartsTheRun) {
    ASSERT_NE(view, nullptr);
    view->column()->questions()[0]->choose(2);
    Guess stop;
    stop.number = 7;
    view->model()->setGuess(view->model()->questions()[1], stop);
    PresentWindow present(context, view->model(), 0);
    present.resize(1280, 720);
    present.show();
    const auto shown = [&] {
        const auto all = present.column()->findChildren<LessonStep*>();
        return std::ranges::count_if(all, [](const LessonStep* s) { return !s->isHidden(); });
    };
    EXPECT_EQ(shown(), 1);
    QTest::keyClick(&present, Qt::Key_PageDown);
    EXPECT_EQ(present.column()->shownStep(), 1);
    QTest::keyClick(&present, Qt::Key_PageDown);
    EXPECT_EQ(present.column()->shownStep(), 2);
    const auto* plots = present.column()->findChild<LessonPlots*>();
    ASSERT_NE(plots, nullptr);
    EXPECT_TRUE(plots->plots().front()->content().marks.empty()) << "answers are hidden";
    EXPECT_FALSE(view->model()->locked());
    QTest::keyClick(&present, Qt::Key_PageDown);
    EXPECT_TRUE(view->model()->locked());
    ASSERT_TRUE(QTest::qWaitFor([&] { return view->model()->ended(); }, patience));
    QTest::keyClick(&present, Qt::Key_PageDown);
    EXPECT_EQ(present.column()->shownStep(), 3);
    EXPECT_EQ(plots->plots().front()->content().marks.size(), 2u);
    EXPECT_EQ(shown(), 1);
}

}  // namespace
}  // namespace ui
