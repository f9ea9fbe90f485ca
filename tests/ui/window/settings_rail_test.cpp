// The settings collapsed to a rail: remembered for each page, without effect on the layout.
#include "window/settings_rail.h"

#include <QAction>
#include <QDockWidget>
#include <QSettings>
#include <QToolButton>

#include "pages/page_stack.h"
#include "window/main_menu.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct SettingsRailTest : WindowFixture {
    SettingsRailTest() {
        QSettings().clear();
        open();
    }
    ~SettingsRailTest() override { QSettings().clear(); }
    void open(int width = 1440) {
        if (window) window->close();
        window.reset();
        window = std::make_unique<MainWindow>(context);
        window->resize(width, 900);
        window->QWidget::show();
        standsStill();
    }
    void resizeTo(int width) {
        window->resize(width, 900);
        standsStill();
    }
    void page(const QString& name) {
        window->findChild<PageStack*>()->showPage(name);
        standsStill();
    }
    SettingsRail* rail() const { return window->findChild<SettingsRail*>(); }
    QDockWidget* settingsDock() const { return window->findChild<QDockWidget*>(u"settings"_s); }
    void close() {
        window->findChild<QToolButton*>(u"railClose"_s)->click();
        standsStill();
    }
    /// Expects that exactly one of the two is visible.
    void expectRailed(bool railed, const char* where) {
        EXPECT_EQ(rail()->isVisible(), railed) << where;
        EXPECT_EQ(settingsDock()->isVisible(), !railed) << where;
    }
};

TEST_F(SettingsRailTest, PagesThatDoNotUseTheSettingsStartWithARail) {
    expectRailed(false, "training");
    for (const QString& name : {u"xray"_s, u"twin"_s, u"runs"_s, u"benchmarks"_s}) {
        page(name);
        expectRailed(true, qPrintable(name));
    }
    for (const QString& name : {u"queue"_s, u"training"_s}) {
        page(name);
        expectRailed(false, qPrintable(name));
    }
    page(u"lab"_s);
    EXPECT_FALSE(rail()->isVisible()) << "the Lab has the whole width";
    EXPECT_FALSE(settingsDock()->isVisible());
}

/// There is no room for the settings beside a page, and they return with the room.
TEST_F(SettingsRailTest, ANarrowWindowFoldsThemOnEveryPageButTraining) {
    const int width = settingsDock()->width();
    page(u"queue"_s);
    expectRailed(false, "wide");
    resizeTo(1100);
    expectRailed(true, "narrow");
    page(u"training"_s);
    expectRailed(false, "narrow, training");
    page(u"queue"_s);
    expectRailed(true, "narrow, again");
    resizeTo(1440);
    expectRailed(false, "wide again");
    page(u"training"_s);
    EXPECT_EQ(settingsDock()->width(), width);
}

TEST_F(SettingsRailTest, AClickOpensTheSettingsAndTheirToolClosesThem) {
    page(u"xray"_s);
    QTest::mouseClick(rail(), Qt::LeftButton);
    standsStill();
    expectRailed(false, "opened");
    close();
    expectRailed(true, "closed");
    EXPECT_EQ(window->focusWidget(), rail());
    QTest::keyClick(rail(), Qt::Key_Space);
    standsStill();
    expectRailed(false, "opened by the keyboard");
}

/// At the width of a small screen, with the columns of either page.
TEST_F(SettingsRailTest, TheWindowKeepsItsWidthFromPageToPage) {
    resizeTo(1280);
    for (const QString& name : {u"twin"_s, u"lab"_s, u"skips"_s, u"queue"_s, u"lab"_s, u"xray"_s,
                                u"training"_s, u"lab"_s, u"microscope"_s, u"training"_s}) {
        page(name);
        EXPECT_EQ(window->width(), 1280) << qPrintable(name);
    }
}

TEST_F(SettingsRailTest, IsRememberedForEachPage) {
    close();
    page(u"xray"_s);
    rail()->click();
    page(u"twin"_s);
    for (int i = 0; i < 2; ++i) {
        page(u"training"_s);
        expectRailed(true, "training");
        page(u"xray"_s);
        expectRailed(false, "xray");
        page(u"twin"_s);
        expectRailed(true, "twin");
        open();
    }
}

TEST_F(SettingsRailTest, TheWidthOfTheSettingsComesBack) {
    window->resizeDocks({settingsDock()}, {340}, Qt::Horizontal);
    standsStill();
    QTest::mouseRelease(window.get(), Qt::LeftButton);
    const int width = settingsDock()->width();
    ASSERT_GT(width, 320);
    page(u"xray"_s);
    page(u"training"_s);
    EXPECT_EQ(settingsDock()->width(), width);
    close();
    rail()->click();
    standsStill();
    EXPECT_EQ(settingsDock()->width(), width);
    page(u"xray"_s);
    open();
    page(u"training"_s);
    EXPECT_EQ(settingsDock()->width(), width) << "after a start with a rail";
}

TEST_F(SettingsRailTest, StaysWhenTheRightColumnFoldsMeanwhile) {
    close();
    auto* step = window->findChild<QDockWidget*>(u"step"_s);
    resizeTo(1200);
    expectRailed(true, "narrow");
    EXPECT_EQ(window->dockWidgetArea(step), Qt::BottomDockWidgetArea);
    rail()->click();
    standsStill();
    resizeTo(1440);
    expectRailed(false, "wide");
    EXPECT_EQ(window->dockWidgetArea(step), Qt::RightDockWidgetArea);
    close();
    resizeTo(1200);
    expectRailed(true, "narrow again");
}

TEST_F(SettingsRailTest, TheMenuHidesTheSettingsByTheirRail) {
    settingsDock()->toggleViewAction()->trigger();
    standsStill();
    expectRailed(true, "hidden");
    open();
    expectRailed(true, "after a start");
    settingsDock()->toggleViewAction()->trigger();
    standsStill();
    expectRailed(false, "shown");
}

TEST_F(SettingsRailTest, ResetBringsTheStartBack) {
    close();
    page(u"xray"_s);
    rail()->click();
    standsStill();
    emit window->findChild<MainMenu*>()->resetLayout();
    standsStill();
    expectRailed(true, "xray");
    page(u"training"_s);
    expectRailed(false, "training");
}

TEST_F(SettingsRailTest, ASettingThatIsAskedForIsShown) {
    close();
    emit commands.settingsWanted();
    standsStill();
    expectRailed(false, "training");
}

TEST_F(SettingsRailTest, DrawsItsWordInEitherLanguage) {
    for (const QString& name : {u"en"_s, u"zh_CN"_s}) {
        language.setChoice(name);
        open();
        close();
        EXPECT_FALSE(rail()->accessibleName().isEmpty());
        const QImage image = rail()->grab().toImage();
        const QColor panel = theme.tokens().panel;
        // Something is drawn below the icon.
        bool written = false;
        for (int y = 34; y < 90; ++y)
            for (int x = 6; x < rail()->width() - 6; ++x)
                written = written || image.pixelColor(x, y) != panel;
        EXPECT_TRUE(written) << name.toStdString();
    }
    language.setChoice(u"en"_s);
}

}  // namespace
}  // namespace ui
