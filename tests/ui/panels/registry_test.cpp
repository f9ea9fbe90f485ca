// A panel that is added only to the list is a panel of the window in every respect.
#include "panels/registry.h"

#include <QLabel>
#include <QMenu>
#include <QSettings>

#include "panels/plots/plot_panels.h"
#include "window/main_menu.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

Panel* makeFifthPlot(const Context& context, const QString& name, QWidget* parent) {
    PlotSpec spec;
    spec.title = u"Step time"_s;
    spec.figure = &engine::StepRecord::step_ms;
    spec.look.title = spec.title;
    return makePlotPanel(context, name, {spec}, parent);
}

Panel* makeFourthSidePanel(const Context& context, const QString& name, QWidget* parent) {
    return new Panel(context.theme, name, u"Notes"_s, new QLabel(u"Words"_s), parent);
}

struct PanelRegistryTest : WindowFixture {
    PanelRegistryTest() {
        window.reset();
        QSettings().clear();
        usual.panels = {};
        for (const auto& entry : panelEntries()) {
            if (names.contains(entry.name)) usual.panels.push_back(entry);
        }
        more = usual;
        more.panels.push_back({u"fifth"_s, Place::plots, 0, makeFifthPlot});
        more.panels.push_back({u"notes"_s, Place::right, 120, makeFourthSidePanel});
    }
    ~PanelRegistryTest() override { QSettings().clear(); }

    void open(const WindowParts& parts) {
        if (window) window->close();
        window.reset();
        window = std::make_unique<MainWindow>(context, parts);
        window->QWidget::show();
        resizeTo(1440, 900);
    }
    void resizeTo(int width, int height) {
        window->resize(width, height);
        standsStill();
    }
    QDockWidget* dock(const QString& name) const {
        auto* found = window->findChild<QDockWidget*>(name);
        EXPECT_NE(found, nullptr) << name.toStdString();
        return found;
    }
    QRect place(const QString& name) const {
        return {dock(name)->mapTo(window.get(), QPoint()), dock(name)->size()};
    }
    bool seen(const QString& name) const { return !dock(name)->visibleRegion().isEmpty(); }
    /// Expects that all visible docks are inside the window and do not overlap.
    void expectNothingCutOff() const {
        QRegion covered;
        for (const auto* each : window->findChildren<QDockWidget*>()) {
            if (!seen(each->objectName())) continue;
            const QRect rect = place(each->objectName());
            EXPECT_TRUE(window->rect().contains(rect)) << each->objectName().toStdString();
            EXPECT_FALSE(covered.intersects(rect)) << each->objectName().toStdString();
            covered += rect;
        }
    }

    /// The panels by name, so that the expectations hold when the list grows.
    const QStringList names{u"settings"_s, u"loss"_s, u"accuracy"_s, u"scale"_s,
                            u"fourth"_s,   u"step"_s, u"events"_s,   u"runs"_s};
    WindowParts usual;
    WindowParts more;
};

TEST_F(PanelRegistryTest, FurtherPlotsGetColumnsAtTheRightOfTheOthers) {
    open(more);
    ASSERT_TRUE(seen(u"fifth"_s));
    const QRect fifth = place(u"fifth"_s);
    EXPECT_GT(fifth.left(), place(u"accuracy"_s).right());
    EXPECT_EQ(fifth.top(), place(u"loss"_s).top());
    EXPECT_EQ(fifth.bottom(), place(u"fourth"_s).bottom());
    for (const auto& other : {u"loss"_s, u"accuracy"_s, u"scale"_s, u"fourth"_s})
        EXPECT_NEAR(fifth.width(), place(other).width(), size::gap) << other.toStdString();
    expectNothingCutOff();
    QSettings().clear();
    window.reset();
    more.panels.push_back({u"sixth"_s, Place::plots, 0, makeFifthPlot});
    open(more);
    EXPECT_EQ(place(u"fifth"_s).left(), place(u"sixth"_s).left());
    EXPECT_GT(place(u"sixth"_s).top(), place(u"fifth"_s).bottom());
    EXPECT_NEAR(place(u"sixth"_s).height(), place(u"fifth"_s).height(), 2);
    expectNothingCutOff();
}

TEST_F(PanelRegistryTest, AHiddenPlotShowsBelowTheOthersOnceItIsAskedForAndStays) {
    more.panels.insert(more.panels.begin(), {u"rare"_s, Place::hiddenPlot, 0, makeFifthPlot});
    open(usual);  // leaves a layout that does not know it
    dock(u"accuracy"_s)->toggleViewAction()->trigger();
    standsStill();
    open(more);
    EXPECT_FALSE(dock(u"rare"_s)->isVisible());
    QSettings().clear();
    window.reset();
    open(more);
    ASSERT_TRUE(seen(u"fifth"_s));
    EXPECT_FALSE(dock(u"rare"_s)->isVisible());
    const QRect loss = place(u"loss"_s);
    dock(u"rare"_s)->toggleViewAction()->trigger();
    standsStill();
    ASSERT_TRUE(seen(u"rare"_s));
    EXPECT_FALSE(dock(u"rare"_s)->isFloating());
    EXPECT_GT(place(u"rare"_s).top(), place(u"fourth"_s).bottom());
    EXPECT_GT(place(u"rare"_s).top(), place(u"fifth"_s).bottom());
    EXPECT_EQ(place(u"rare"_s).left(), place(u"loss"_s).left());
    EXPECT_EQ(place(u"rare"_s).right(), place(u"fifth"_s).right());
    EXPECT_GE(place(u"rare"_s).height(), 100);
    expectNothingCutOff();
    const QRect rare = place(u"rare"_s);
    open(more);
    EXPECT_EQ(place(u"rare"_s), rare);
    emit window->findChild<MainMenu*>()->resetLayout();
    standsStill();
    EXPECT_FALSE(dock(u"rare"_s)->isVisible());
    EXPECT_EQ(place(u"loss"_s), loss);
}

TEST_F(PanelRegistryTest, AFourthSidePanelStandsBelowTheOthers) {
    open(more);
    ASSERT_TRUE(seen(u"notes"_s));
    EXPECT_GT(place(u"notes"_s).top(), place(u"runs"_s).bottom());
    EXPECT_EQ(place(u"notes"_s).left(), place(u"runs"_s).left());
    EXPECT_EQ(place(u"notes"_s).width(), place(u"runs"_s).width());
}

TEST_F(PanelRegistryTest, ResetInANarrowWindowPlacesAddedPlotsAsAtTheStart) {
    open(more);
    const QRect fourth = place(u"fourth"_s), fifth = place(u"fifth"_s);
    resizeTo(1200, 900);
    emit window->findChild<MainMenu*>()->resetLayout();
    standsStill();
    resizeTo(1440, 900);
    EXPECT_EQ(place(u"fourth"_s), fourth);
    EXPECT_EQ(place(u"fifth"_s), fifth);
}

TEST_F(PanelRegistryTest, AnAddedPanelIsInTheViewMenu) {
    open(more);
    for (const auto& name : {u"fifth"_s, u"notes"_s}) {
        const auto* action = dock(name)->toggleViewAction();
        const auto menus = window->findChildren<QMenu*>();
        EXPECT_TRUE(std::any_of(menus.begin(), menus.end(), [&](const QMenu* menu) {
            return menu->title() == u"Panels"_s && menu->actions().contains(action);
        })) << name.toStdString();
    }
}

TEST_F(PanelRegistryTest, AddedPanelsFoldAndFitASmallWindow) {
    open(more);
    for (const QSize& small : {QSize(1200, 900), QSize(1024, 720)}) {
        resizeTo(small.width(), small.height());
        EXPECT_EQ(window->size(), small);
        EXPECT_EQ(window->dockWidgetArea(dock(u"notes"_s)), Qt::BottomDockWidgetArea);
        EXPECT_TRUE(window->tabifiedDockWidgets(dock(u"step"_s)).contains(dock(u"notes"_s)));
        EXPECT_TRUE(seen(u"fifth"_s));
        expectNothingCutOff();
    }
    resizeTo(1440, 900);
    EXPECT_EQ(window->dockWidgetArea(dock(u"notes"_s)), Qt::RightDockWidgetArea);
}

TEST_F(PanelRegistryTest, VisibilityAndSizeOfAddedPanelsAreRemembered) {
    open(more);
    auto* plots = qobject_cast<QMainWindow*>(dock(u"fifth"_s)->parentWidget());
    QTest::mousePress(plots, Qt::LeftButton, {}, {1, 1});
    plots->resizeDocks({dock(u"loss"_s), dock(u"accuracy"_s), dock(u"fifth"_s)}, {200, 200, 300},
                       Qt::Horizontal);
    QTest::mouseRelease(plots, Qt::LeftButton, {}, {1, 1});
    dock(u"notes"_s)->close();
    standsStill();
    const QRect fifth = place(u"fifth"_s);
    EXPECT_GT(fifth.width(), place(u"loss"_s).width() + 50);
    for (int i = 0; i < 2; ++i) {
        open(more);
        EXPECT_EQ(place(u"fifth"_s), fifth);
        EXPECT_FALSE(dock(u"notes"_s)->isVisible());
    }
    dock(u"notes"_s)->toggleViewAction()->trigger();
    open(more);
    EXPECT_TRUE(seen(u"notes"_s));
}

TEST_F(PanelRegistryTest, ALayoutThatIsOlderThanAPanelIsKeptAndThePanelShows) {
    open(usual);
    window->resizeDocks({dock(u"settings"_s), dock(u"step"_s)}, {260, 350}, Qt::Horizontal);
    window->addDockWidget(Qt::LeftDockWidgetArea, dock(u"runs"_s));
    dock(u"events"_s)->close();
    dock(u"accuracy"_s)->close();
    standsStill();
    const QRect before = place(u"settings"_s);
    open(more);
    EXPECT_EQ(place(u"settings"_s), before);
    EXPECT_EQ(place(u"step"_s).width(), 350);
    EXPECT_EQ(window->dockWidgetArea(dock(u"runs"_s)), Qt::LeftDockWidgetArea);
    EXPECT_FALSE(dock(u"events"_s)->isVisible());
    EXPECT_FALSE(dock(u"accuracy"_s)->isVisible());
    ASSERT_TRUE(seen(u"fifth"_s));
    ASSERT_TRUE(seen(u"notes"_s));
    EXPECT_GT(place(u"fifth"_s).left(), place(u"fourth"_s).right());
    EXPECT_GT(place(u"fifth"_s).width(), place(u"fourth"_s).width() / 2);
    EXPECT_EQ(window->dockWidgetArea(dock(u"notes"_s)), Qt::RightDockWidgetArea);
    expectNothingCutOff();
}

TEST_F(PanelRegistryTest, ResetLayoutPlacesAddedPanelsAnew) {
    open(more);
    const QRect fifth = place(u"fifth"_s);
    const QRect notes = place(u"notes"_s);
    dock(u"fifth"_s)->setFloating(true);
    dock(u"notes"_s)->close();
    for (auto* action : window->findChildren<QAction*>()) {
        if (action->text() == u"Reset layout"_s) action->trigger();
    }
    standsStill();
    EXPECT_EQ(place(u"fifth"_s), fifth);
    EXPECT_EQ(place(u"notes"_s), notes);
}

}  // namespace
}  // namespace ui
