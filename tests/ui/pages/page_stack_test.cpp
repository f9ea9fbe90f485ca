// The pages of the window: a single page has no row of pages and no key; several share the
// selection.
#include "pages/page_stack.h"

#include <QAction>
#include <QLabel>
#include <QSettings>
#include <QStatusBar>

#include "pages/training_page.h"
#include "panels/frame/command_bar.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

int pagesMade = 0;

QWidget* makeSecondPage(const Context&, QWidget* parent) {
    ++pagesMade;
    auto* page = new QLabel(u"Second"_s, parent);
    page->setObjectName(u"second"_s);
    return page;
}

struct PageStackTest : WindowFixture {
    PageStackTest() { QSettings().clear(); }
    ~PageStackTest() override { QSettings().clear(); }

    void open(bool needsRun = false) {
        openWith({pageEntries().front(), {u"second"_s, u"Second"_s, makeSecondPage, needsRun}});
    }
    void openWith(const std::vector<PageEntry>& pages) {
        if (window) window->close();
        window.reset();
        WindowParts parts;
        parts.pages = [pages] { return pages; };
        pagesMade = 0;
        window = std::make_unique<MainWindow>(context, parts);
        window->resize(1440, 900);
        window->QWidget::show();
        window->activateWindow();
        standsStill();
    }
    QTabBar* row() const { return window->findChild<PageStack*>()->row(); }
    QWidget* current() const { return window->findChild<PageStack*>()->currentWidget(); }
    void click(int tab) {
        QTest::mouseClick(row(), Qt::LeftButton, {}, row()->tabRect(tab).center());
        standsStill();
    }
    void key(Qt::Key which) {
        QTest::keyClick(window.get(), which, Qt::ControlModifier);
        standsStill();
    }
    bool onTraining() const { return qobject_cast<TrainingPage*>(current()) != nullptr; }
};

TEST_F(PageStackTest, OnePageAloneHasNoRowAndTakesNoShortcut) {
    openWith({pageEntries().front()});
    EXPECT_EQ(row(), nullptr);
    EXPECT_TRUE(onTraining());
    for (const auto* action : window->findChildren<QAction*>())
        EXPECT_NE(action->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_1));
}

TEST_F(PageStackTest, SeveralPagesHaveARowUnderTheCommandBar) {
    open();
    ASSERT_NE(row(), nullptr);
    EXPECT_TRUE(row()->isVisible());
    EXPECT_EQ(row()->count(), 2);
    EXPECT_EQ(row()->tabText(0), u"Training"_s);
    EXPECT_FALSE(row()->accessibleName().isEmpty());
    const auto topOf = [&](const QWidget* widget) {
        return widget->mapTo(window.get(), QPoint()).y();
    };
    const auto* bar = window->findChild<CommandBar*>();
    EXPECT_GE(topOf(row()), topOf(bar) + bar->height());
    EXPECT_LE(topOf(row()) + row()->height(), topOf(window->centralWidget()));
}

TEST_F(PageStackTest, AClickOrItsNumberChoosesAPage) {
    open();
    click(1);
    EXPECT_EQ(current()->objectName(), u"second"_s);
    EXPECT_TRUE(current()->isVisible());
    click(0);
    EXPECT_TRUE(onTraining());
    key(Qt::Key_2);
    EXPECT_EQ(current()->objectName(), u"second"_s);
    EXPECT_EQ(row()->currentIndex(), 1);
    key(Qt::Key_1);
    EXPECT_TRUE(onTraining());
}

TEST_F(PageStackTest, TheTenthPageHasTheKeyAfterNine) {
    std::vector<PageEntry> pages{pageEntries().front()};
    for (int i = 2; i <= 11; ++i)
        pages.push_back({u"page%1"_s.arg(i), u"Page"_s, makeSecondPage, false});
    openWith(pages);
    key(Qt::Key_9);
    EXPECT_EQ(row()->currentIndex(), 8);
    key(Qt::Key_0);
    EXPECT_EQ(row()->currentIndex(), 9);
    EXPECT_EQ(row()->tabToolTip(10), QString()) << "no key is left";
}

TEST_F(PageStackTest, APageIsMadeWhenItIsFirstShown) {
    open();
    EXPECT_EQ(pagesMade, 0);
    click(1);
    click(0);
    click(1);
    EXPECT_EQ(pagesMade, 1);
}

TEST_F(PageStackTest, RunAndStepStaySelectedWhenThePageChanges) {
    open();
    feed.experiment().open({engine::RunConfig{}, engine::RunConfig{}});
    const auto run = feed.tracks()[1];
    link.select(17, run);
    click(1);
    EXPECT_EQ(link.selected(), 17);
    EXPECT_EQ(link.run(), run);
    click(0);
    EXPECT_EQ(link.selected(), 17);
    EXPECT_EQ(link.run(), run);
}

TEST_F(PageStackTest, BarsAndSettingsStayAndTheRightColumnIsOfTrainingAlone) {
    open();
    auto* step = window->findChild<QDockWidget*>(u"step"_s);
    auto* settingsDock = window->findChild<QDockWidget*>(u"settings"_s);
    window->resizeDocks({step}, {350}, Qt::Horizontal);
    standsStill();
    QTest::mouseRelease(window.get(), Qt::LeftButton);  // as when the mouse moves a divider
    const QRect place = step->geometry();
    click(1);
    EXPECT_FALSE(step->isVisible());
    for (const QWidget* stays :
         {static_cast<QWidget*>(settingsDock), static_cast<QWidget*>(window->statusBar()),
          static_cast<QWidget*>(window->findChild<CommandBar*>())})
        EXPECT_TRUE(stays->isVisible()) << stays->objectName().toStdString();
    window->resize(1200, 900);
    standsStill();
    EXPECT_FALSE(step->isVisible());
    click(0);
    EXPECT_EQ(window->dockWidgetArea(step), Qt::BottomDockWidgetArea) << "narrow meanwhile";
    click(1);
    window->resize(1440, 900);
    standsStill();
    click(0);
    EXPECT_TRUE(step->isVisible());
    EXPECT_EQ(step->geometry(), place);
}

TEST_F(PageStackTest, ThePageIsRememberedAndTheLayoutOfTrainingWithIt) {
    open();
    click(1);
    open();
    EXPECT_EQ(current()->objectName(), u"second"_s);
    EXPECT_EQ(row()->currentIndex(), 1);
    click(0);
    for (const auto& name : {u"step"_s, u"events"_s, u"runs"_s})
        EXPECT_TRUE(window->findChild<QDockWidget*>(name)->isVisible()) << name.toStdString();
    open();
    EXPECT_TRUE(onTraining());
}

TEST_F(PageStackTest, APageThatNeedsARunCanBeChosenOnlyWithOne) {
    open(true);
    EXPECT_FALSE(row()->isTabEnabled(1));
    EXPECT_TRUE(row()->tabToolTip(1).contains(u"needs a run"_s));
    key(Qt::Key_2);
    EXPECT_TRUE(onTraining());
    feed.experiment().open({engine::RunConfig{}});
    EXPECT_TRUE(row()->isTabEnabled(1));
    key(Qt::Key_2);
    EXPECT_EQ(current()->objectName(), u"second"_s);
    feed.setHidden(feed.tracks()[0]->run(), true);
    EXPECT_TRUE(onTraining());
    EXPECT_EQ(QSettings().value(u"window/page"_s).toString(), u"second"_s)
        << "the user has not left it";
}

TEST_F(PageStackTest, TabVisitsTheRowAndThePageThatIsShown) {
    open();
    row()->setFocus();
    EXPECT_EQ(window->focusWidget(), row());
    QTest::keyClick(row(), Qt::Key_Right);
    EXPECT_EQ(current()->objectName(), u"second"_s);
    current()->setFocusPolicy(Qt::TabFocus);
    for (int i = 0; i < 200 && window->focusWidget() != current(); ++i)
        QTest::keyClick(window->focusWidget(), Qt::Key_Tab);
    EXPECT_EQ(window->focusWidget(), current());
}

TEST_F(PageStackTest, TheRowSpeaksTheWindowsLanguage) {
    language.setChoice(u"zh_CN"_s);
    open();
    EXPECT_EQ(row()->tabText(0), u"训练"_s);
    EXPECT_EQ(row()->accessibleName(), u"页面"_s);
    language.setChoice(u"en"_s);
}

}  // namespace
}  // namespace ui
