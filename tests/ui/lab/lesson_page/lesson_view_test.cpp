#include "lab/lesson_page/lesson_view.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QRadioButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QWheelEvent>
#include <algorithm>
#include <set>

#include "lab/instruments/instrument.h"
#include "lab/lesson_page/lesson_column.h"
#include "lab/lesson_page/lesson_plots.h"
#include "lab/lesson_page/lesson_step.h"
#include "lab/lesson_page/present_window.h"
#include "lab/lesson_page/question_form.h"
#include "lab/lessons/lesson_list.h"
#include "lesson_view_fixture.h"
#include "panels/frame/command_bar.h"
#include "panels/step/step_chooser.h"
#include "plots/line_plot.h"
#include "support/stillness.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"
#include "window/message_bar.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using test_support::small_lesson;
using test_support::with;

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
    standsStill();
    EXPECT_EQ(view->column()->shownStep(), 2) << "the plots are in view";
    EXPECT_TRUE(steps()[4]->isOpen());
    EXPECT_TRUE(view->column()->questions()[0]->isLocked());
    view->model()->runs()->setKnob(u"optimizer.lr"_s, u"0.02"_s);
    EXPECT_FALSE(view->model()->ended());
    EXPECT_TRUE(steps()[5]->isOpen()) << "the knob stays where it was turned";
    view->model()->reset();
    EXPECT_FALSE(steps()[4]->isOpen());
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
    const auto all = present.column()->findChildren<LessonStep*>();
    for (const auto* step : all) {
        const auto* title = step->findChild<QLabel*>();
        EXPECT_EQ(title->font().pointSizeF(), all[0]->findChild<QLabel*>()->font().pointSizeF())
            << step->title().toStdString();
    }
    emit present.column()->whereWanted(4);
    EXPECT_EQ(present.column()->shownStep(), 2);
    EXPECT_EQ(view->model()->runs()->link()->selected(), 4);
    present.column()->showStep(5);
    view->model()->runs()->setKnob(u"optimizer.lr"_s, u"0.02"_s);
    EXPECT_EQ(present.column()->shownStep(), 2) << "a knob shows its curves";
}

TEST_F(LessonViewTest, PresentTurnsThePageWhereverTheFocusIsAndKeepsTheHands) {
    ASSERT_NE(view, nullptr);
    const auto handsOf = [](PresentWindow& present) {
        const auto all = present.column()->findChildren<QSpinBox*>();
        EXPECT_FALSE(all.isEmpty());
        return all.value(1);
    };
    {
        PresentWindow present(context, view->model(), 1);
        present.setAttribute(Qt::WA_DeleteOnClose, false);
        present.show();
        auto* hands = handsOf(present);
        ASSERT_NE(hands, nullptr);
        hands->setFocus();
        hands->selectAll();
        QTest::keyClicks(hands, u"12"_s);
        EXPECT_EQ(hands->value(), 12);
        QTest::keyClick(hands, Qt::Key_PageUp);
        EXPECT_EQ(present.column()->shownStep(), 0);
        EXPECT_EQ(hands->value(), 12);
        for (auto* choice : present.column()->findChildren<QRadioButton*>()) {
            QTest::keyClick(choice, Qt::Key_PageDown);
            EXPECT_EQ(present.column()->shownStep(), 1);
            QTest::keyClick(choice, Qt::Key_PageUp);
            EXPECT_EQ(present.column()->shownStep(), 0);
        }
        QTest::keyClick(hands, Qt::Key_Escape);
        EXPECT_FALSE(present.isVisible());
    }
    PresentWindow again(context, view->model(), 1);
    EXPECT_EQ(handsOf(again)->value(), 12);
    view->model()->reset();
    EXPECT_EQ(handsOf(again)->value(), 0);
}

TEST_F(LessonViewTest, TheWheelOverAPlotScrollsThePage) {
    ASSERT_NE(view, nullptr);
    window->resize(1024, 640);
    view->column()->showStep(2);
    standsStill();
    auto* bar = view->column()->verticalScrollBar();
    ASSERT_GT(bar->maximum(), 0);
    bar->setValue(0);
    auto* plot = view->column()->findChild<LinePlot*>();
    ASSERT_NE(plot, nullptr);
    QWheelEvent event(QPointF(20, 20), plot->mapToGlobal(QPointF(20, 20)), {}, {0, -120},
                      Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QSpontaneKeyEvent::setSpontaneous(&event);  // others do not go to what is around
    qApp->notify(plot, &event);
    EXPECT_GT(bar->value(), 0);
}

/// A lesson of two steps without questions, runs or instruments.
std::string short_lesson() {
    return "---\ntitle: Short\nchapter: Tests\n---\n## Read\nText.\n## Why\nBecause.\n";
}

TEST_F(LessonViewTest, AShorterLessonTakesThePlaceOfOneThatRan) {
    ASSERT_NE(view, nullptr);
    ASSERT_TRUE(run());
    const auto* instruments = view->findChild<InstrumentPanel*>();
    EXPECT_TRUE(instruments->any());
    commands.openPath(writeLesson(data, u"short"_s, short_lesson()));
    standsStill();
    EXPECT_EQ(view->model()->name(), u"short"_s);
    EXPECT_EQ(view->column()->steps(), 2);
    EXPECT_FALSE(instruments->any());
    view->model()->openLesson(u"small"_s);
    standsStill();
    EXPECT_EQ(view->column()->steps(), 6);
    EXPECT_EQ(view->model()->runs()->phase(), LessonRuns::Phase::notRun);
}

TEST_F(LessonViewTest, TheTabKeyGoesFromTheListThroughTheQuestions) {
    ASSERT_NE(view, nullptr);
    window->activateWindow();
    auto* list = view->findChild<LessonList*>();
    list->findChild<QListWidget*>()->setFocus();
    QTest::keyClick(list->findChild<QListWidget*>(), Qt::Key_Return);
    const auto& questions = view->column()->questions();
    const auto focused = [](const QuestionForm* form) {
        const QWidget* focus = QApplication::focusWidget();
        return focus != nullptr && form->isAncestorOf(focus);
    };
    EXPECT_TRUE(focused(questions[0]));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    EXPECT_TRUE(focused(questions[1]));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    EXPECT_NE(qobject_cast<LinePlot*>(QApplication::focusWidget()), nullptr);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backtab, Qt::ShiftModifier);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backtab, Qt::ShiftModifier);
    EXPECT_TRUE(focused(questions[0]));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backtab, Qt::ShiftModifier);
    EXPECT_TRUE(list->isAncestorOf(QApplication::focusWidget())) << "list and column are apart";
}

TEST_F(LessonViewTest, NumbersAreCoveredUntilTheRunStarts) {
    ASSERT_NE(view, nullptr);
    const auto* panel = view->findChild<InstrumentPanel*>();
    const auto shown = [&] {
        const auto all = panel->findChildren<Instrument*>();
        return std::ranges::count_if(all, [](const Instrument* i) { return !i->isHidden(); });
    };
    EXPECT_EQ(panel->findChildren<Card*>().size(), 3);
    EXPECT_EQ(shown(), 1) << "the weight, which tells nothing yet";
    ASSERT_TRUE(run());
    EXPECT_EQ(shown(), 3);
}

TEST_F(LessonViewTest, AHistogramIsThatOfTheStep) {
    commands.openPath(
        writeLesson(data, u"histogram"_s,
                    with(small_lesson(), "bits tenth", "histogram gradients: plain\nbits tenth")));
    ASSERT_TRUE(run());
    const auto all = view->findChildren<Instrument*>();
    const auto found = std::ranges::find_if(
        all, [](const Instrument* each) { return each->title() == u"Exponents of the gradients"_s; });
    ASSERT_NE(found, all.end());
    const Instrument* histogram = *found;
    EXPECT_TRUE(QTest::qWaitFor([&] { return histogram->note() == u"step 40"_s; }, patience))
        << histogram->note().toStdString();
    const auto labels = view->findChild<InstrumentPanel*>()->findChildren<ElidedLabel*>();
    EXPECT_TRUE(std::ranges::any_of(
        labels, [](const ElidedLabel* label) { return label->text() == u"step 40"_s; }));
    view->model()->runs()->link()->select(11);
    EXPECT_TRUE(QTest::qWaitFor([&] { return histogram->note() == u"step 10"_s; }, patience));
}

TEST_F(LessonViewTest, InstrumentsTellOfTypesSkipsSumsAndWeights) {
    commands.openPath(writeLesson(
        data, u"all"_s,
        with(small_lesson(), "bits tenth",
             "xray linear: high beside plain\nskip: high\nbits small: 1e-8 in fp16\nbits tenth")));
    ASSERT_TRUE(view->model()->lesson()->problems.empty());
    ASSERT_TRUE(run());
    const auto* panel = view->findChild<InstrumentPanel*>();
    const auto says = [&](const QString& text) {
        return QTest::qWaitFor(
            [&] {
                const auto labels = panel->findChildren<QLabel*>();
                return std::ranges::any_of(labels, [&](const QLabel* label) {
                    return !label->isHidden() && label->text().contains(text);
                });
            },
            patience);
    };
    EXPECT_TRUE(says(u"linear · fc1"_s)) << "the X-ray's operations";
    EXPECT_TRUE(says(u"10⁻⁸ in FP16"_s));
    EXPECT_TRUE(says(u"Benign"_s)) << "the verdict on the skip";
    EXPECT_TRUE(says(u"the sum no longer changes"_s));
    EXPECT_TRUE(says(u"fc1.weight[1, 0] · step 40"_s));
    EXPECT_TRUE(says(u"Scale 2^24 · step "_s)) << "whose skip it is";
}

TEST_F(LessonViewTest, RunsOfOnePrecisionAreToldApart) {
    commands.openPath(writeLesson(
        data, u"three"_s,
        with(small_lesson(), "pace: 400",
             "again \"Again\": scaler.init_scale=1024\nmore \"More\": scaler.init_scale=64\n"
             "pace: 4000")));
    ASSERT_EQ(view->model()->name(), u"three"_s);
    ASSERT_TRUE(run());
    const auto& curves =
        view->column()->findChild<LessonPlots*>()->plots().front()->content().curves;
    ASSERT_EQ(curves.size(), 4u);
    std::set<QRgb> colours;
    for (const auto& curve : curves) {
        colours.insert(curve.color.rgb());
        EXPECT_FALSE(curve.dashed);
    }
    EXPECT_EQ(colours.size(), 4u) << "each of three runs of one precision has a colour of its own";
}

TEST_F(LessonViewTest, ARunThatFailsIsToldBesideItsName) {
    commands.openPath(writeLesson(
        data, u"fails"_s,
        with(with(small_lesson(), "plain \"FP32\": precision.preset=fp32",
                  "plain \"BCE\": precision.preset=amp-fp16 teach.loss=bce-probabilities"),
             "weight fc1.weight[1,0]: high beside plain\n", "")));
    ASSERT_EQ(view->model()->name(), u"fails"_s);
    ASSERT_TRUE(run());
    EXPECT_FALSE(window->findChild<MessageBar*>()->isVisible()) << "it is part of the lesson";
    const auto labels = view->column()->findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) {
        return label->text().contains(u"binary_cross_entropy"_s);
    }));
}

TEST_F(LessonViewTest, ACheckThatNothingPredictsHasItsLabel) {
    commands.openPath(writeLesson(
        data, u"label"_s,
        with(small_lesson(), "lost = tenth.error", "lost \"error of 0.1\" = tenth.error")));
    ASSERT_TRUE(run());
    const auto rows = view->model()->checkRows();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[2].question, u"error of 0.1"_s);
    EXPECT_EQ(rows[2].step, 0) << "no plot shows it";
    EXPECT_EQ(rows[1].verdict, QString());
}

}  // namespace
}  // namespace ui
