// The window operated by mouse and keyboard: Tab order, focus, help, steps and quitting.
#include <QAction>
#include <QClipboard>
#include <QDialog>
#include <QGuiApplication>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextBrowser>

#include "engine/settings/catalog.h"
#include "feed/run_track.h"
#include "help/about_dialog.h"
#include "help/help_window.h"
#include "panels/history/history_panel.h"
#include "panels/settings/settings_field.h"
#include "plots/line_plot.h"
#include "window/focus.h"
#include "window/message_bar.h"
#include "window/quit_dialog.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct HandsTest : WindowFixture {
    HandsTest() {
        settings.load(engine::parse_run_config(
                          R"({"dataset": {"kind": "spirals", "train_limit": 256},
                              "model": {"kind": "mlp"}, "batch_size": 32, "epochs": 100000})")
                          .config,
                      {u"fp32"_s, u"amp-fp16"_s});
    }
    QAction* action(const QString& text) const {
        for (auto* each : window->findChildren<QAction*>()) {
            if (each->text() == text) return each;
        }
        return nullptr;
    }
    bool reaches(engine::RunState state) {
        return QTest::qWaitFor([&] { return feed.state() == state; }, 300'000);
    }
    QPushButton* answer(const QString& text) const {
        for (auto* each : window->findChildren<QuitDialog*>()) {
            for (auto* button : each->findChildren<QPushButton*>()) {
                if (button->text() == text) return button;
            }
        }
        return nullptr;
    }
};

TEST_F(HandsTest, TabGoesThroughTheWindowInReadingOrder) {
    window->findChild<QPushButton*>(u"primary"_s)->setFocus();
    QList<QWidget*> stops;
    for (int i = 0; i < 200; ++i) {
        stops << window->focusWidget();
        QTest::keyClick(window->focusWidget(), Qt::Key_Tab);
        if (window->focusWidget() == stops.front()) break;
    }
    EXPECT_EQ(window->focusWidget(), stops.front()) << "Tab is caught on its way";
    EXPECT_GT(stops.size(), 20);
    for (const auto* stop : stops) EXPECT_EQ(qobject_cast<const FieldLabel*>(stop), nullptr);
    const auto* settingsDock = window->findChild<QDockWidget*>(u"settings"_s);
    const auto* loss = window->findChild<QDockWidget*>(u"loss"_s);
    const auto* runs = window->findChild<QDockWidget*>(u"runs"_s);
    const auto firstIn = [&](const QWidget* group) {
        return std::find_if(stops.begin(), stops.end(),
                            [&](QWidget* stop) { return group->isAncestorOf(stop); });
    };
    EXPECT_LT(firstIn(settingsDock), firstIn(loss));
    EXPECT_LT(firstIn(loss), firstIn(runs));
    EXPECT_NE(firstIn(runs), stops.end());
    int above = 0;
    for (auto* stop : stops) {
        if (!settingsDock->isAncestorOf(stop)) continue;
        const int y = stop->mapTo(window.get(), stop->rect().center()).y();
        EXPECT_GE(y, above - 12) << stop->accessibleName().toStdString();
        above = std::max(above, y);
    }
    QTest::keyClick(window->focusWidget(), Qt::Key_Backtab);
    EXPECT_EQ(window->focusWidget(), stops.back());
}

TEST_F(HandsTest, TabReachesAChipThatWasAddedLater) {
    settings.setComparison({u"fp32"_s, u"amp-fp16"_s, u"amp-bf16"_s});
    standsStill();
    QWidget* single = nullptr;
    for (auto* field : window->findChildren<SettingsField*>()) {
        if (field->path() == u"precision.preset"_s) single = field->editor();
    }
    single->setFocus();
    for (int i = 0; i < 3; ++i) QTest::keyClick(window->focusWidget(), Qt::Key_Tab);
    const auto* chip = qobject_cast<QToolButton*>(window->focusWidget());
    ASSERT_NE(chip, nullptr);
    EXPECT_EQ(chip->text(), u"AMP BF16"_s);
}

TEST_F(HandsTest, FocusMovesNothing) {
    window->activateWindow();
    for (auto* widget : window->findChildren<QWidget*>()) {
        if (!widget->isVisible() || (widget->focusPolicy() & Qt::TabFocus) == 0) continue;
        if (widget->focusProxy() != nullptr || !widget->isEnabled()) continue;
        window->setFocus();
        const QSize before = widget->sizeHint();
        widget->setFocus(Qt::TabFocusReason);
        widget->ensurePolished();
        EXPECT_EQ(widget->sizeHint(), before)
            << widget->metaObject()->className() << ' ' << widget->accessibleName().toStdString();
    }
}

TEST_F(HandsTest, ThePlotThatHasTheFocusHasARing) {
    auto* ring = window->findChild<FocusRing*>();
    ASSERT_NE(ring, nullptr);
    window->activateWindow();
    auto* plot = window->findChild<LinePlot*>();
    window->findChild<QPushButton*>(u"primary"_s)->setFocus();
    EXPECT_FALSE(ring->isVisible());
    plot->setFocus();
    EXPECT_TRUE(ring->isVisible());
    EXPECT_EQ(ring->parentWidget(), plot);
    EXPECT_EQ(ring->geometry(), plot->rect());
    EXPECT_FALSE(ring->mask().contains(plot->rect().center()));
    window->findChild<QPushButton*>(u"primary"_s)->setFocus();
    EXPECT_FALSE(ring->isVisible());
}

TEST_F(HandsTest, F1OpensTheHelpAtTheFocusedSetting) {
    for (auto* field : window->findChildren<SettingsField*>()) {
        if (field->path() == u"optimizer.lr"_s) field->setFocus();
    }
    auto* help = action(u"Help…"_s);
    ASSERT_NE(help, nullptr);
    EXPECT_EQ(help->shortcut(), QKeySequence(Qt::Key_F1));
    help->trigger();
    const auto* opened = window->findChild<HelpWindow*>();
    ASSERT_NE(opened, nullptr);
    EXPECT_TRUE(opened->isWindow());
    EXPECT_FALSE(opened->isModal());
    auto* page = opened->findChild<QTextBrowser*>();
    EXPECT_TRUE(page->toPlainText().contains(u"Learning rate"_s));
    auto* list = opened->findChild<QListWidget*>();
    const auto shown = [list] {
        QStringList titles;
        for (int row = 0; row < list->count(); ++row) {
            if (!list->item(row)->isHidden()) titles << list->item(row)->text();
        }
        return titles;
    };
    EXPECT_GT(shown().size(), static_cast<qsizetype>(engine::fields().size()));
    opened->findChild<QLineEdit*>()->setText(u"subnormal 65,520"_s);
    EXPECT_TRUE(shown().contains(u"Number formats"_s));
    EXPECT_FALSE(shown().contains(u"Seed"_s));
    EXPECT_TRUE(page->toPlainText().contains(u"2⁻²⁵"_s));
}

TEST_F(HandsTest, AboutHasVersionLicencesAndACopyButton) {
    action(u"About Halftone"_s)->trigger();
    auto* about = window->findChild<AboutDialog*>();
    ASSERT_NE(about, nullptr);
    const QString licences = about->findChild<QPlainTextEdit*>()->toPlainText();
    for (const auto& library : {u"Qt"_s, u"QCustomPlot"_s, u"oneDNN"_s, u"SQLite"_s})
        EXPECT_TRUE(licences.contains(library)) << library.toStdString();
    auto* terms = about->findChild<QLabel*>(u"terms"_s);
    ASSERT_NE(terms, nullptr);
    for (const auto& licence : {u"MIT License"_s, u"GNU General Public License, version 3"_s}) {
        EXPECT_TRUE(terms->text().contains(licence)) << licence.toStdString();
        EXPECT_TRUE(licences.contains(licence)) << licence.toStdString();
    }
    for (auto* button : about->findChildren<QPushButton*>()) {
        if (button->text() == u"Copy"_s) button->click();
    }
    EXPECT_TRUE(QGuiApplication::clipboard()->text().startsWith(u"Halftone 0."_s));
    EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(u"QCustomPlot"_s));
    about->close();
}

TEST_F(HandsTest, PauseIsOffInTheMenuWhileNothingRuns) {
    EXPECT_FALSE(action(u"Pause"_s)->isEnabled());
    commands.start();
    ASSERT_TRUE(reaches(engine::RunState::training));
    EXPECT_TRUE(action(u"Pause"_s)->isEnabled());
    commands.stop();
    ASSERT_TRUE(reaches(engine::RunState::done));
    EXPECT_FALSE(action(u"Pause"_s)->isEnabled());
}

TEST_F(HandsTest, StepStartsNothingOverShownResults) {
    EXPECT_TRUE(action(u"Step"_s)->isEnabled());
    commands.step();
    ASSERT_TRUE(reaches(engine::RunState::paused));
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.tracks()[1]->rows() == 1; }, 300'000));
    commands.step();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.tracks()[1]->rows() == 2; }, 300'000));
    ASSERT_TRUE(reaches(engine::RunState::paused));
    commands.stop();
    ASSERT_TRUE(reaches(engine::RunState::done));
    const auto shown = feed.tracks();
    EXPECT_FALSE(action(u"Step"_s)->isEnabled());
    EXPECT_FALSE(commands.buttons().step.why.isEmpty());
    commands.step();
    EXPECT_EQ(feed.tracks(), shown);
}

TEST_F(HandsTest, ClosingWhileTrainingAsksAndKeepTrainingStays) {
    commands.start();
    ASSERT_TRUE(reaches(engine::RunState::training));
    EXPECT_FALSE(window->close());
    EXPECT_TRUE(window->isVisible());
    auto* trainOn = answer(u"Train on without the window"_s);
    ASSERT_NE(trainOn, nullptr);
    EXPECT_TRUE(trainOn->isEnabled());
    auto* stay = answer(u"Keep training"_s);
    ASSERT_NE(stay, nullptr);
    stay->click();
    EXPECT_TRUE(
        QTest::qWaitFor([this] { return window->findChild<QuitDialog*>() == nullptr; }, 300'000));
    EXPECT_TRUE(window->isVisible());
    EXPECT_TRUE(feed.live());
    EXPECT_NE(feed.state(), engine::RunState::done);
}

TEST_F(HandsTest, SaveAndQuitStopsAPausedRunAndCloses) {
    commands.start();
    ASSERT_TRUE(reaches(engine::RunState::training));
    commands.togglePause();
    ASSERT_TRUE(reaches(engine::RunState::paused));
    EXPECT_FALSE(window->close());
    auto* quit = answer(u"Save and quit"_s);
    ASSERT_NE(quit, nullptr);
    quit->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window->isVisible(); }, 300'000));
    ASSERT_EQ(feed.store()->list().size(), 1u);
    EXPECT_EQ(feed.store()->list()[0].state, "stopped");
}

TEST_F(HandsTest, AFolderThatIsOpenedBeforeTheHistoryIsThereIsSelected) {
    commands.start();
    ASSERT_TRUE(reaches(engine::RunState::training));
    commands.stop();
    ASSERT_TRUE(reaches(engine::RunState::done));
    QThreadPool::globalInstance()->waitForDone();
    standsStill();
    const auto run = feed.store()->list()[0];
    window->findChild<HistoryPanel*>()->clearSelection();
    window->findChild<HistoryPanel*>()->reload();  // loading, as when the program starts
    commands.openPath(QString::fromStdString(run.folder.string()));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return window->findChild<HistoryPanel*>()->selectionModel()->hasSelection(); },
        300'000));
    EXPECT_FALSE(window->findChild<MessageBar*>()->isVisible());
}

}  // namespace
}  // namespace ui
