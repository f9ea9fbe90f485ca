// Widths and heights are kept, whatever happens to the window in between.
#include <QDockWidget>
#include <QMap>
#include <QSettings>

#include "pages/page_stack.h"
#include "panels/verdict/run_cards.h"
#include "panels/verdict/verdict_bar.h"
#include "widgets/panel.h"
#include "window/main_menu.h"
#include "window/message_bar.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

using Places = QMap<QString, QRect>;

/// The places of all visible docks.
Places places(const MainWindow& window) {
    Places out;
    for (const auto* dock : window.findChildren<QDockWidget*>()) {
        if (!dock->visibleRegion().isEmpty())  // not hidden behind a tab
            out[dock->objectName()] = QRect(dock->mapTo(&window, QPoint()), dock->size());
    }
    return out;
}

std::string text(const Places& all) {
    QString out;
    for (auto it = all.cbegin(); it != all.cend(); ++it) {
        const QRect& r = it.value();
        out += u"%1 %2,%3 %4x%5\n"_s.arg(it.key()).arg(r.x()).arg(r.y()).arg(r.width()).arg(
            r.height());
    }
    return out.toStdString();
}

#define EXPECT_SAME_PLACES(now, before) EXPECT_EQ(text(now), text(before))

struct LayoutTest : WindowFixture {
    LayoutTest() {
        QSettings().clear();
        open();
        resizeTo(1440, 900);
    }
    void open() {
        window.reset();
        window = std::make_unique<MainWindow>(context);
        window->QWidget::show();
        standsStill();
    }
    ~LayoutTest() override { QSettings().clear(); }
    Panel* panel(const QString& name) {
        return qobject_cast<Panel*>(window->findChild<QDockWidget*>(name));
    }
    QMainWindow* plots() { return qobject_cast<QMainWindow*>(panel(u"loss"_s)->parentWidget()); }
    /// Changes the order of the plots.
    void movePlot() {
        plots()->splitDockWidget(panel(u"loss"_s), panel(u"fourth"_s), Qt::Horizontal);
        standsStill();
        QTest::mouseRelease(window.get(), Qt::LeftButton);  // stores the layout
    }
    /// Drags the divider at the right of a plot.
    void dragDivider(const QString& name, int by) {
        const QRect at = panel(name)->geometry();
        const QPoint from(at.right() + size::gap / 2, at.center().y());
        QTest::mousePress(plots(), Qt::LeftButton, {}, from);
        QTest::mouseMove(plots(), from + QPoint(by / 2, 0));
        QTest::mouseMove(plots(), from + QPoint(by, 0));
        standsStill();  // a main window moves its dividers once a turn
        QTest::mouseRelease(plots(), Qt::LeftButton, {}, from + QPoint(by, 0));
        standsStill();
    }
    void visitAllPages() {
        auto* pages = window->findChild<PageStack*>();
        for (const PageEntry& page : pageEntries()) {
            pages->showPage(page.name);
            QCoreApplication::processEvents();
        }
        pages->showPage(u"training"_s);
        standsStill();
    }
    int widthOf(const QString& name) { return panel(name)->width(); }
    /// Expects two rows and two columns of equal shares.
    void expectGrid(const char* where) {
        EXPECT_NEAR(widthOf(u"loss"_s), widthOf(u"accuracy"_s), 1) << where;
        EXPECT_NEAR(widthOf(u"scale"_s), widthOf(u"fourth"_s), 1) << where;
        EXPECT_EQ(widthOf(u"loss"_s), widthOf(u"scale"_s)) << where;
        EXPECT_NEAR(panel(u"loss"_s)->height(), panel(u"scale"_s)->height(), 1) << where;
    }
    void resetLayout() {
        emit window->findChild<MainMenu*>()->resetLayout();
        standsStill();
    }
    /// Sets sizes that differ from those at the start.
    void drag() {
        window->resizeDocks({panel(u"settings"_s), panel(u"step"_s)}, {260, 350}, Qt::Horizontal);
        window->resizeDocks({panel(u"step"_s), panel(u"events"_s), panel(u"runs"_s)},
                            {200, 350, 200}, Qt::Vertical);
        standsStill();
        auto* plots = this->plots();
        QTest::mousePress(plots, Qt::LeftButton, {}, {1, 1});  // beside the dividers
        plots->resizeDocks({panel(u"loss"_s), panel(u"scale"_s)}, {300, 200}, Qt::Vertical);
        plots->resizeDocks({panel(u"loss"_s), panel(u"accuracy"_s)}, {300, 250}, Qt::Horizontal);
        standsStill();
        QTest::mouseRelease(window.get(), Qt::LeftButton);  // as when the mouse moves a divider
        QTest::mouseRelease(plots, Qt::LeftButton, {}, {1, 1});
        standsStill();
    }
    void resizeTo(int width, int height) {
        window->resize(width, height);
        // Until the layout has settled: restoring after a resize takes a few turns.
        Places last;
        for (int i = 0; i < 40 && last != places(*window); ++i) {
            last = places(*window);
            standsStill();
        }
    }
};

TEST_F(LayoutTest, StaysWhenAPlotFillsTheCentreAndReturns) {
    for (const bool dragged : {false, true}) {
        if (dragged) drag();
        const Places before = places(*window);
        ASSERT_EQ(before.size(), std::ssize(panelEntries()) - 1) << "one is hidden at first";
        for (int i = 0; i < 3; ++i) {
            emit panel(u"scale"_s)->expandRequested();
            standsStill();
            ASSERT_FALSE(panel(u"loss"_s)->isVisible());
            QTest::keyClick(window.get(), Qt::Key_Escape);
            standsStill();
        }
        EXPECT_SAME_PLACES(places(*window), before);
    }
}

TEST_F(LayoutTest, StaysWhenTheWindowIsNarrowMeanwhile) {
    for (const bool dragged : {false, true}) {
        if (dragged) drag();
        const Places before = places(*window);
        resizeTo(1200, 800);
        const Places narrow = places(*window);
        EXPECT_NE(narrow, before);
        resizeTo(1440, 900);
        EXPECT_SAME_PLACES(places(*window), before);
        resizeTo(1200, 800);
        EXPECT_SAME_PLACES(places(*window), narrow);
        resizeTo(1440, 900);
        EXPECT_SAME_PLACES(places(*window), before);
    }
}

TEST_F(LayoutTest, PlotsMadeByHandLeaveNoHoleBelowThemAtAnySize) {
    drag();
    const auto below = [this] {
        int lowest = 0;
        for (const QString& name : {u"loss"_s, u"accuracy"_s, u"scale"_s, u"fourth"_s})
            lowest = std::max(lowest, panel(name)->geometry().bottom());
        return plots()->height() - 1 - lowest;
    };
    const int before = below();
    for (const QSize& size : {QSize(1200, 800), QSize(1440, 900), QSize(1100, 1000)}) {
        resizeTo(size.width(), size.height());
        EXPECT_EQ(below(), before) << size.width();
    }
}

TEST_F(LayoutTest, StaysWhenTheWindowIsLargeMeanwhile) {
    for (const bool dragged : {false, true}) {
        if (dragged) drag();
        const Places before = places(*window);
        for (const QSize& large : {QSize(1920, 1080), QSize(1500, 1000), QSize(3840, 2160)}) {
            resizeTo(large.width(), large.height());
            resizeTo(1440, 900);
        }
        EXPECT_SAME_PLACES(places(*window), before);
    }
}

TEST_F(LayoutTest, StaysAfterARestart) {
    drag();
    window->move(40, 60);
    const Places before = places(*window);
    const QRect place = window->geometry();
    for (int i = 0; i < 3; ++i) {
        window->close();
        open();
    }
    EXPECT_EQ(window->geometry(), place);
    EXPECT_SAME_PLACES(places(*window), before);
}

TEST_F(LayoutTest, IsRememberedWideAndSpreadFromANarrowOrExpandedWindow) {
    drag();
    const Places before = places(*window);
    emit panel(u"scale"_s)->expandRequested();
    resizeTo(1200, 900);
    window->saveLayout();
    open();
    EXPECT_TRUE(panel(u"loss"_s)->isVisible());
    resizeTo(1440, 900);
    EXPECT_SAME_PLACES(places(*window), before);
}

TEST_F(LayoutTest, IsSavedWideFromANarrowWindow) {
    drag();
    const Places before = places(*window);
    resizeTo(1200, 900);
    window->close();
    open();
    resizeTo(1440, 900);
    EXPECT_SAME_PLACES(places(*window), before);
}

TEST_F(LayoutTest, IsSavedWideWhenAPlotIsExpandedInANarrowWindow) {
    drag();
    const Places before = places(*window);
    resizeTo(1200, 900);
    emit panel(u"scale"_s)->expandRequested();
    window->close();
    open();
    resizeTo(1440, 900);
    EXPECT_SAME_PLACES(places(*window), before);
}

TEST_F(LayoutTest, StaysWhenTheWindowWidensWhileAPlotIsExpanded) {
    drag();
    const Places before = places(*window);
    resizeTo(1200, 900);
    const Places narrow = places(*window);
    emit panel(u"scale"_s)->expandRequested();
    resizeTo(1440, 900);
    window->saveLayout();
    QTest::keyClick(window.get(), Qt::Key_Escape);
    standsStill();
    EXPECT_SAME_PLACES(places(*window), before);
    emit panel(u"scale"_s)->expandRequested();
    resizeTo(1200, 900);
    QTest::keyClick(window.get(), Qt::Key_Escape);
    standsStill();
    EXPECT_SAME_PLACES(places(*window), narrow);
    open();
    resizeTo(1440, 900);
    EXPECT_SAME_PLACES(places(*window), before);
}

TEST_F(LayoutTest, ResetInANarrowWindowResetsTheWideLayout) {
    const Places fresh = places(*window);
    movePlot();
    drag();
    ASSERT_NE(places(*window), fresh);
    resizeTo(1200, 900);
    resetLayout();
    resizeTo(1440, 900);
    EXPECT_SAME_PLACES(places(*window), fresh);
}

TEST_F(LayoutTest, ResetInAWideWindowResetsTheNarrowLayout) {
    const Places fresh = places(*window);
    resizeTo(1200, 900);
    const Places narrow = places(*window);
    movePlot();
    resizeTo(1440, 900);
    movePlot();
    drag();
    resetLayout();
    EXPECT_SAME_PLACES(places(*window), fresh);
    resizeTo(1200, 900);
    EXPECT_SAME_PLACES(places(*window), narrow);
}

/// Every page hides columns, so the hidden plots are laid out in other widths meanwhile.
TEST_F(LayoutTest, StaysWhenAllPagesAreVisitedTenTimesAndAfterARestart) {
    trainShortly();
    for (const bool byHand : {false, true}) {
        if (byHand) dragDivider(u"loss"_s, 70);
        if (!byHand) expectGrid("at first");
        const Places before = places(*window);
        for (int i = 0; i < (byHand ? 2 : 10); ++i) visitAllPages();
        EXPECT_SAME_PLACES(places(*window), before) << byHand;
        window->close();
        open();
        EXPECT_SAME_PLACES(places(*window), before) << "restarted, " << byHand;
        visitAllPages();
        EXPECT_SAME_PLACES(places(*window), before) << "restarted and visited, " << byHand;
    }
}

/// The window may get another size while the plots are not shown.
TEST_F(LayoutTest, PlotsAreAGridAtEverySizeUntilADividerIsDragged) {
    for (const QSize& each : {QSize(1100, 760), QSize(1300, 800), QSize(1920, 1080)}) {
        window->findChild<PageStack*>()->showPage(u"lab"_s);
        resizeTo(each.width(), each.height());
        window->findChild<PageStack*>()->showPage(u"training"_s);
        standsStill();
        expectGrid("resized on another page");
    }
    resizeTo(1440, 900);
    expectGrid("resized");
    const int before = widthOf(u"loss"_s);
    QTest::mouseClick(plots(), Qt::LeftButton, {}, {1, 1});  // drags nothing
    dragDivider(u"loss"_s, 60);
    EXPECT_EQ(widthOf(u"loss"_s), before + 60);
    visitAllPages();
    EXPECT_EQ(widthOf(u"loss"_s), before + 60);
    resetLayout();
    EXPECT_EQ(widthOf(u"loss"_s), before);
    expectGrid("reset");
}

/// Layouts that drifted before this was mended are not taken over.
TEST_F(LayoutTest, ADriftedLayoutOfAnOlderVersionBecomesTheGrid) {
    drag();
    QSettings().setValue(u"window/plots"_s, plots()->saveState(1));
    QSettings().remove(u"window/plotsByHand"_s);
    open();
    resizeTo(1440, 900);
    expectGrid("older layout");
}

TEST_F(LayoutTest, StaysWhileAMessageIsShown) {
    const Places before = places(*window);
    window->show({u"A sentence that says at some length what went wrong."_s, u"What to do."_s,
                  engine::ErrorCode::data, false});
    standsStill();
    ASSERT_TRUE(window->findChild<MessageBar*>()->isVisible());
    EXPECT_SAME_PLACES(places(*window), before);
}

}  // namespace
}  // namespace ui
