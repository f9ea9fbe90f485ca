#include "lab/lab_page.h"

#include <QAbstractButton>
#include <QLineEdit>
#include <QPushButton>

#include "engine/lab/lesson.h"
#include "lab/numbers/bit_table.h"
#include "lab/numbers/calculator_model.h"
#include "lab/numbers/number_model.h"
#include "lab/numbers/numbers_tools.h"
#include "lab/numbers/numbers_view.h"
#include "pages/page_stack.h"
#include "panels/settings/settings_panel.h"
#include "widgets/choices.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct LabPageTest : WindowFixture {
    LabPageTest() {
        QSettings().clear();
        window->activateWindow();
        standsStill();
    }
    ~LabPageTest() override { QSettings().clear(); }
    PageStack* pages() const { return window->findChild<PageStack*>(); }
    void showLab() {
        pages()->showPage(u"lab"_s);
        standsStill();
    }
    void showNumbers() {
        showLab();
        window->findChild<LabPage*>()->showView(u"numbers"_s);
        standsStill();
    }
    bool settingsShown() const { return window->findChild<SettingsPanel*>()->isVisible(); }
};

int viewsMade = 0;
LabView makeOther(const Context&, QWidget* parent) {
    ++viewsMade;
    auto* body = new QLabel(u"Other"_s, parent);
    return {body, new QWidget(parent)};
}

TEST_F(LabPageTest, IsTheSixthPageByItsKey) {
    QTest::keyClick(window.get(), Qt::Key_6, Qt::ControlModifier);
    standsStill();
    EXPECT_NE(qobject_cast<LabPage*>(pages()->currentWidget()), nullptr);
}

TEST_F(LabPageTest, TakesTheWholeWidthAndGivesItBack) {
    EXPECT_TRUE(settingsShown());
    const int before = pages()->width();
    const int panel = window->findChild<SettingsPanel*>()->width();
    showLab();
    EXPECT_FALSE(settingsShown());
    EXPECT_GT(pages()->width(), before);
    pages()->showPage(u"queue"_s);
    standsStill();
    EXPECT_TRUE(settingsShown());
    showLab();
    pages()->showPage(u"training"_s);
    standsStill();
    EXPECT_TRUE(settingsShown());
    EXPECT_NEAR(window->findChild<SettingsPanel*>()->width(), panel, 4);
}

TEST_F(LabPageTest, DoesNotWidenAWindowOfOtherPages) {
    showLab();
    pages()->showPage(u"training"_s);
    EXPECT_EQ(pages()->minimumSizeHint(), pages()->currentWidget()->minimumSizeHint());
    showLab();
    EXPECT_EQ(pages()->minimumSizeHint(), pages()->currentWidget()->minimumSizeHint());
    EXPECT_LE(window->minimumSizeHint().width(), 1280);
    EXPECT_LE(window->minimumSizeHint().height(), 800);
    window->resize(1280, 800);
    for (const auto& name : {u"training"_s, u"lab"_s, u"xray"_s, u"lab"_s, u"training"_s}) {
        pages()->showPage(name);
        standsStill();
        EXPECT_EQ(window->size(), QSize(1280, 800)) << name.toStdString();
    }
}

TEST_F(LabPageTest, MakesAViewWhenItIsFirstShownAndRemembersIt) {
    viewsMade = 0;
    const std::vector<LabViewEntry> entries = {labViewEntries().front(),
                                               {u"other"_s, u"Other"_s, makeOther}};
    {
        LabPage page(context, nullptr, entries);
        EXPECT_EQ(viewsMade, 0);
        auto* other = page.findChild<Segments*>()->buttons()->button(1);
        EXPECT_EQ(other->text(), u"Other"_s);
        other->click();
        EXPECT_EQ(viewsMade, 1);
        EXPECT_EQ(page.shownView(), u"other"_s);
        page.showView(labViewEntries().front().name);
        page.showView(u"other"_s);
        EXPECT_EQ(viewsMade, 1);
        page.showView(u"nothing"_s);
        EXPECT_EQ(page.shownView(), u"other"_s);
    }
    LabPage again(context, nullptr, entries);
    EXPECT_EQ(again.shownView(), u"other"_s);
}

TEST_F(LabPageTest, StepsToANeighbourByItsKeys) {
    showNumbers();
    auto* numbers = window->findChild<NumbersView*>();
    ASSERT_NE(numbers, nullptr);
    numbers->field()->setFocus();
    QTest::keyClick(numbers->field(), Qt::Key_Up, Qt::ControlModifier);
    EXPECT_EQ(numbers->field()->text(), u"0.10003662109375"_s);
    QTest::keyClick(numbers->field(), Qt::Key_Down, Qt::ControlModifier);
    EXPECT_EQ(numbers->field()->text(), u"0.0999755859375"_s);
    numbers->field()->selectAll();
    QTest::keyClicks(numbers->field(), u"0x7c01"_s);
    EXPECT_EQ(numbers->field()->text(), u"0x7c01"_s);
}

TEST_F(LabPageTest, CopiesNumberAndSumAsALessonBlock) {
    showNumbers();
    const auto* tools = window->findChild<NumbersTools*>();
    ASSERT_NE(tools, nullptr);
    EXPECT_EQ(tools->lessonBlock(),
              u"```instrument\nbits number: 0.1 in fp16\n"
              "sum total: 0.001 x 10000 in fp16 accumulate fp16\n```\n"_s);
}

TEST_F(LabPageTest, CopiesBlocksThatALessonTakes) {
    NumberModel number;
    CalculatorModel calculator;
    const NumbersTools tools(context, &number, &calculator);
    for (const auto* format : engine::common_number_formats()) {
        for (const auto& text :
             {u"0.1"_s, u"-2^-24"_s, u"3 * 2^-5"_s, u"1/3"_s, u"0x3c"_s, u"65504"_s}) {
            number.setFormat(*format);
            number.setText(text);
            const auto lesson =
                engine::parse_lesson("---\ntitle: T\nchapter: C\nminutes: 1\n---\n## Read\n" +
                                     tools.lessonBlock().toStdString());
            for (const auto& problem : lesson.problems)
                ADD_FAILURE() << problem.line << ": " << problem.text.str();
            ASSERT_EQ(lesson.instruments.size(), 2u);
            EXPECT_EQ(lesson.instruments[0].number->format, format->name);
            EXPECT_EQ(lesson.instruments[1].number->count, 10'000);
        }
    }
}

TEST_F(LabPageTest, PresentsTheNumberInLargerTypeAndTurnsThreeParts) {
    showNumbers();
    QTest::keyClick(window.get(), Qt::Key_F5);
    ASSERT_TRUE(QTest::qWaitFor(
        [this] {
            const auto* made = window->findChild<NumbersPresent*>();
            return made != nullptr && made->isVisible();
        },
        300'000));
    standsStill();
    auto* shown = window->findChild<NumbersPresent*>();
    EXPECT_TRUE(shown->isFullScreen());
    EXPECT_GT(shown->width(), 0);
    // As large as the screen's width allows, but at most 1.8 times.
    const double larger =
        shown->findChild<BitTable*>()->font().pointSizeF() / QApplication::font().pointSizeF();
    EXPECT_GE(larger, shown->width() > 1000 ? 1.05 : 0.99);
    EXPECT_LE(larger, 1.81);
    EXPECT_EQ(shown->findChild<NumbersView*>()->field()->text(), u"0.1"_s);
    shown->activateWindow();
    for (const int part : {1, 2, 2}) {
        QTest::keyClick(shown, Qt::Key_PageDown);
        EXPECT_EQ(shown->currentIndex(), part);
    }
    QTest::keyClick(shown, Qt::Key_PageUp);
    EXPECT_EQ(shown->currentIndex(), 1);
    QTest::keyClick(shown, Qt::Key_Escape);
    standsStill();
    EXPECT_EQ(window->findChild<NumbersPresent*>(), nullptr);
}

}  // namespace
}  // namespace ui
