#include "panels/step/step_chooser.h"

#include <QMenu>
#include <QSignalSpy>
#include <QTabBar>

#include "pages/page_stack.h"
#include "text/format.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// 60 steps of FP32 and AMP FP16. The first scales overflow.
struct StepChooserTest : WindowFixture {
    void train() {
        engine::RunConfig config = engine::default_comparison();
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.scaler.init_scale = 0x1p40;
        config.max_steps = 60;
        trainToEnd(engine::completed(config), {u"fp32"_s, u"amp-fp16"_s});
    }
    StepChooser* chooser() const { return window->findChild<StepChooser*>(); }
    ScaleStrip* strip() const { return chooser()->findChild<ScaleStrip*>(); }
    QString stepText() const { return chooser()->findChild<QLabel*>()->text(); }
    QTabBar* tabs() const { return window->findChild<PageStack*>()->row(); }
    /// No tab is cut off, and none has to be scrolled to.
    bool showsAllTabs() const {
        for (const auto* arrow : tabs()->findChildren<QToolButton*>()) {
            if (arrow->isVisible()) return false;
        }
        return tabs()->rect().contains(tabs()->tabRect(tabs()->count() - 1));
    }
    void makeWindow(int width) {
        window = std::make_unique<MainWindow>(context);
        window->resize(width, 700);
        window->QWidget::show();
        standsStill();
        ASSERT_EQ(window->width(), width);
    }
    QToolButton* button(const QString& start) const {
        for (auto* each : chooser()->findChildren<QToolButton*>()) {
            if (each->accessibleName().startsWith(start)) return each;
        }
        return nullptr;
    }
    void click(QWidget* widget, Qt::KeyboardModifiers keys = {}) {
        QTest::mouseClick(widget, Qt::LeftButton, keys);
    }
    /// The previous skipped step; 0: none.
    std::int64_t skipBefore(std::int64_t step) const {
        while (--step > 0 && feed.tracks()[1]->at(step).found_inf == 0) {
        }
        return step;
    }
};

TEST_F(StepChooserTest, IsThereWithTheFirstRun) {
    EXPECT_FALSE(chooser()->isVisible());
    train();
    EXPECT_TRUE(chooser()->isVisible());
    EXPECT_EQ(stepText(), u"step 60"_s);
    EXPECT_TRUE(chooser()->findChild<QPushButton*>()->isChecked()) << "follows the newest step";
}

TEST_F(StepChooserTest, WalksStepsAndSkips) {
    train();
    ASSERT_GT(skipBefore(60), 2);
    click(button(u"Previous step"_s));
    EXPECT_EQ(link.selected(), 59);
    EXPECT_FALSE(chooser()->findChild<QPushButton*>()->isChecked());
    click(button(u"Next step"_s));
    EXPECT_EQ(link.selected(), 60);
    click(button(u"Previous step"_s), Qt::ControlModifier);
    const std::int64_t last = link.selected();
    EXPECT_EQ(last, skipBefore(60));
    click(button(u"Previous step"_s), Qt::ControlModifier);
    EXPECT_EQ(link.selected(), skipBefore(last));
    click(button(u"Next step"_s), Qt::ControlModifier);
    EXPECT_EQ(link.selected(), last);
    QTest::keyClick(window.get(), Qt::Key_L);
    EXPECT_EQ(link.selected(), 0);
    EXPECT_EQ(stepText(), u"step 60"_s);
}

TEST_F(StepChooserTest, TheStripSelectsByMouseAndKeys) {
    train();
    const auto at = [&](double share) {
        return QPoint(static_cast<int>(share * strip()->width()), 8);
    };
    QTest::mouseClick(strip(), Qt::LeftButton, {}, at(0.75));
    EXPECT_NEAR(static_cast<double>(link.selected()), 45, 1);
    strip()->setFocus();
    QTest::keyClick(strip(), Qt::Key_Left);
    EXPECT_NEAR(static_cast<double>(link.selected()), 44, 1);
    QTest::keyClick(strip(), Qt::Key_Left, Qt::ControlModifier);
    EXPECT_EQ(link.selected(), skipBefore(44));
    QTest::keyClick(strip(), Qt::Key_Home);
    EXPECT_EQ(link.selected(), 1);
    QTest::keyClick(strip(), Qt::Key_End);
    EXPECT_EQ(link.selected(), 0);
    QTest::mouseDClick(strip(), Qt::LeftButton, {}, at(0.9));
    EXPECT_EQ(link.selected(), 0);
}

TEST_F(StepChooserTest, AClickOnATickOpensTheSkip) {
    train();
    QSignalSpy opened(chooser(), &StepChooser::skipOpened);
    QTest::mouseClick(strip(), Qt::LeftButton, {}, {static_cast<int>(strip()->width() / 60.0), 8});
    ASSERT_EQ(opened.count(), 1);
    EXPECT_EQ(opened.front().front().toLongLong(), 1);
    EXPECT_EQ(link.selected(), 1);
}

TEST_F(StepChooserTest, ChoosesTheRunThatAllPagesSpeakOf) {
    train();
    auto* menu = chooser()->findChild<QMenu*>();
    emit menu->aboutToShow();
    ASSERT_EQ(menu->actions().size(), 2);
    EXPECT_TRUE(menu->actions()[1]->isChecked()) << "the one with a scaler";
    menu->actions()[0]->trigger();
    EXPECT_EQ(link.run(), feed.tracks()[0]);
    EXPECT_TRUE(button(u"Run"_s)->text().contains(u"FP32"_s));
}

TEST_F(StepChooserTest, LeavesAllTabsInSightAtAWidthOf1100) {
    train();
    for (const QString& name : {u"en"_s, u"zh_CN"_s}) {
        window.reset();
        language.setChoice(name);
        makeWindow(1100);
        ASSERT_TRUE(chooser()->isVisible());
        EXPECT_EQ(tabs()->count(), 11);
        EXPECT_TRUE(showsAllTabs()) << name.toStdString();
        const int end = chooser()->mapTo(window.get(), QPoint(chooser()->width(), 0)).x();
        EXPECT_LE(end, 1100) << name.toStdString();
    }
    language.setChoice(u"en"_s);
}

TEST_F(StepChooserTest, CutsTheTitleOfARunThatWouldTakeTheTabsRoom) {
    train();
    const QString title = u"the same settings with a much longer warm-up of the learning rate"_s;
    feed.tracks()[1]->tag = title;
    emit feed.tracksChanged();
    window->resize(3840, 900);
    standsStill();
    EXPECT_TRUE(button(u"Run"_s)->text().contains(title));
    EXPECT_EQ(button(u"Run"_s)->toolTip(), QString());
    window->resize(1100, 700);
    standsStill();
    EXPECT_TRUE(showsAllTabs());
    EXPECT_TRUE(button(u"Run"_s)->text().contains(u"…"_s));
    EXPECT_TRUE(button(u"Run"_s)->toolTip().contains(title));
}

/// As after a change of the language.
TEST_F(StepChooserTest, AWindowThatIsMadeWhenThereAreRunsShowsTheWholeTitle) {
    train();
    makeWindow(1400);
    const QToolButton* chip = button(u"Run"_s);
    EXPECT_TRUE(chip->text().contains(u"FP16"_s)) << chip->text().toStdString();
    EXPECT_GE(chip->width(), chip->QToolButton::sizeHint().width());
}

TEST_F(StepChooserTest, TheStripGrowsWithTheWindowUpToItsMaximum) {
    train();
    EXPECT_EQ(strip()->width(), strip()->maximumWidth());
    const int end = chooser()->mapTo(window.get(), QPoint(chooser()->width(), 0)).x();
    EXPECT_EQ(end, 1440 - size::inside);
    window->resize(1100, 700);
    standsStill();
    EXPECT_LT(strip()->width(), strip()->maximumWidth());
    EXPECT_GE(strip()->width(), strip()->minimumSizeHint().width());
}

TEST_F(StepChooserTest, FitsIntoANarrowWindow) {
    window->resize(1024, 800);
    standsStill();
    EXPECT_LE(chooser()->mapTo(window.get(), QPoint(chooser()->width(), 0)).x(), 1024);
    EXPECT_EQ(window->width(), 1024);
}

}  // namespace
}  // namespace ui
