#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QClipboard>
#include <QLineEdit>
#include <QMimeData>
#include <QTest>
#include <algorithm>

#include "pages/page_stack.h"
#include "panels/plots/plot_panels.h"
#include "panels/verdict/run_card.h"
#include "panels/verdict/verdict_bar.h"
#include "plots/line_plot.h"
#include "widgets/panel.h"
#include "window/message_bar.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

using WindowTest = WindowFixture;

TEST_F(WindowTest, GivesEveryControlANameForScreenReaders) {
    // The message bar contains its text while it shows a message.
    window->show({u"A sentence."_s, u"What to do."_s, engine::ErrorCode::data, false});
    for (const auto* widget : window->findChildren<QWidget*>()) {
        if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith(u"qt_"_s))
            continue;
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const auto* label = qobject_cast<const QLabel*>(widget);
        const bool named = !widget->accessibleName().isEmpty() ||
                           (button != nullptr && !button->text().isEmpty()) ||
                           (label != nullptr && !label->text().isEmpty());
        const bool part =
            widget->parentWidget()->inherits("QAbstractItemView") ||
            widget->parentWidget()->inherits("QComboBox") || widget->inherits("QScrollBar") ||
            widget->parentWidget()->inherits("QTabBar") || widget->inherits("QTabBar");
        EXPECT_TRUE(named || part) << widget->metaObject()->className() << " in "
                                   << widget->parentWidget()->metaObject()->className();
    }
}

TEST_F(WindowTest, DescribesEveryPlotInWords) {
    auto plots = window->findChildren<LinePlot*>();
    plots.removeIf([](const LinePlot* plot) { return !plot->isVisible(); });
    ASSERT_EQ(plots.size(), std::ranges::count(panelEntries(), Place::plots, &PanelEntry::place));
    for (const auto* plot : plots) {
        EXPECT_TRUE(
            QTest::qWaitFor([plot] { return !plot->accessibleDescription().isEmpty(); }, 300'000));
    }
}

TEST_F(WindowTest, FoldsTheRightColumnBelow1280Pixels) {
    auto* step = window->findChild<QDockWidget*>(u"step"_s);
    EXPECT_EQ(window->dockWidgetArea(step), Qt::RightDockWidgetArea);
    window->resize(1270, 800);
    standsStill();
    EXPECT_EQ(window->dockWidgetArea(step), Qt::BottomDockWidgetArea);
    window->resize(1440, 900);
    standsStill();
    EXPECT_EQ(window->dockWidgetArea(step), Qt::RightDockWidgetArea);
}

TEST_F(WindowTest, LetsOnePlotFillTheCentreUntilEscape) {
    auto* loss = qobject_cast<Panel*>(window->findChild<QDockWidget*>(u"loss"_s));
    auto* scale = window->findChild<QDockWidget*>(u"scale"_s);
    emit loss->expandRequested();
    EXPECT_TRUE(loss->isVisible());
    EXPECT_FALSE(scale->isVisible());
    QTest::keyClick(window.get(), Qt::Key_Escape);
    EXPECT_TRUE(scale->isVisible());
}

TEST_F(WindowTest, CopiesTheSettingsAsACommandLineUnlessOneIsRefused) {
    auto* copy = window->findChild<QAction*>(u"copyCommandLine"_s);
    ASSERT_NE(copy, nullptr);
    settings.load(engine::parse_run_config("{}", {"optimizer.lr=0.25"}).config);
    copy->trigger();
    EXPECT_EQ(QGuiApplication::clipboard()->text(), u"halftone train --set optimizer.lr=0.25"_s);
    EXPECT_TRUE(window->findChild<MessageBar*>()->isVisible());
    settings.set(u"epochs"_s, u"none"_s);
    EXPECT_FALSE(copy->isEnabled());
}

TEST_F(WindowTest, ShowsAnErrorAsABarThatEscapeCloses) {
    auto* bar = window->findChild<MessageBar*>();
    ASSERT_NE(bar, nullptr);
    EXPECT_FALSE(bar->isVisible());
    commands.openPath(folder.path() + u"/nothing-here"_s);
    EXPECT_TRUE(bar->isVisible());
    QTest::keyClick(window.get(), Qt::Key_Escape);
    EXPECT_FALSE(bar->isVisible());
}

TEST_F(WindowTest, ShowsAnErrorWithoutCoveringACardOrAPlot) {
    window->resize(1280, 800);
    standsStill();
    window->show({u"/home/user/data/table.csv, line 3: 2 fields, where the first line has 3."_s,
                  u"Correct the line; a field with the separator in it needs quotes."_s,
                  engine::ErrorCode::data, false});
    standsStill();
    const auto* bar = window->findChild<MessageBar*>();
    ASSERT_TRUE(bar->isVisible());
    const auto place = [this](const QWidget* widget) {
        return QRect(widget->mapTo(window.get(), QPoint()), widget->size());
    };
    for (const auto* card : window->findChildren<RunCard*>())
        EXPECT_FALSE(place(card).intersects(place(bar)));
    for (const auto* plot : window->findChildren<LinePlot*>()) {
        if (!plot->isVisible()) continue;
        EXPECT_FALSE(place(plot->parentWidget()->parentWidget()).intersects(place(bar)));
    }
}

/// The widget under the pointer stays there.
TEST_F(WindowTest, ShowsAMessageAtTheLowerEdgeOfAPageWithoutAVerdictAndMovesNothing) {
    auto* stack = window->findChild<PageStack*>();
    stack->showPage(u"queue"_s);
    standsStill();
    auto* page = stack->currentWidget();
    const auto place = [&] { return QRect(page->mapTo(window.get(), QPoint()), page->size()); };
    const QRect before = place();
    window->show({u"Something is wrong."_s, {}, engine::ErrorCode::settings, false});
    standsStill();
    const auto* bar = window->findChild<MessageBar*>();
    ASSERT_TRUE(bar->isVisible());
    EXPECT_EQ(place(), before);
    EXPECT_EQ(bar->geometry().bottom(), bar->parentWidget()->rect().bottom());
    QTest::keyClick(window.get(), Qt::Key_Escape);
    EXPECT_FALSE(bar->isVisible());
    QSettings().remove(u"window/page"_s);  // makes the next window begin with Training again
}

/// Neither an edge of it is to be seen nor a link of it to be pressed.
TEST_F(WindowTest, AnErrorCoversTheWholeVerdict) {
    window->show({u"Something is wrong."_s, {}, engine::ErrorCode::settings, false});
    standsStill();
    const auto* bar = window->findChild<MessageBar*>();
    const auto* verdict = window->findChild<VerdictBar*>();
    const QRect covered(bar->mapTo(window.get(), QPoint()), bar->size());
    EXPECT_TRUE(covered.contains(QRect(verdict->mapTo(window.get(), QPoint()), verdict->size())));
}

TEST_F(WindowTest, OffersToOpenAFileThatWasWritten) {
    const auto* bar = window->findChild<MessageBar*>();
    auto* open = bar->findChild<QPushButton*>();
    window->show({u"Copied."_s, {}, engine::ErrorCode::io, true});
    EXPECT_FALSE(open->isVisible());
    window->show({u"Exported."_s, {}, engine::ErrorCode::io, true, u"/tmp/model.onnx"_s});
    ASSERT_TRUE(open->isVisible());
    open->click();
    EXPECT_TRUE(bar->accessibleName().contains(u"No program opens /tmp/model.onnx"_s))
        << "this platform has no desktop" << bar->accessibleName().toStdString();
    EXPECT_FALSE(open->isVisible());
}

TEST_F(WindowTest, ShowsEveryTabOfThePlotsInASmallWindow) {
    window->resize(1280, 800);
    standsStill();
    const auto* tabs = window->findChild<QDockWidget*>(u"fourth"_s)->findChild<QTabBar*>();
    ASSERT_EQ(tabs->count(), 4);
    EXPECT_LE(tabs->tabRect(3).right(), tabs->width());
    for (const auto* arrow : tabs->findChildren<QToolButton*>()) EXPECT_FALSE(arrow->isVisible());
}

TEST_F(WindowTest, TakesADroppedSettingsFileAndAnswersWhatItCannotOpen) {
    const auto drop = [this](const QString& file) {
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(file)});
        QDragEnterEvent enter({200, 200}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(window.get(), &enter);
        EXPECT_TRUE(enter.isAccepted());
        QDropEvent event({200, 200}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(window.get(), &event);
    };
    QFile file(folder.path() + u"/mine.json"_s);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(R"({"dataset": {"kind": "spirals"}, "model": {"kind": "mlp"}, "batch_size": 48})");
    file.close();
    const auto* bar = window->findChild<MessageBar*>();
    drop(file.fileName());
    EXPECT_EQ(settings.text(u"batch_size"_s), u"48"_s);
    EXPECT_FALSE(bar->isVisible());
    drop(folder.path());
    EXPECT_TRUE(bar->isVisible());
}

TEST_F(WindowTest, FitsSmallScreens) {
    window->resize(1270, 800);
    standsStill();
    EXPECT_LE(window->minimumSizeHint().width(), 1024);
    EXPECT_LE(window->minimumSizeHint().height(), 720);
}

TEST_F(WindowTest, TrainsTheComparisonFromItsFirstButton) {
    settings.load(
        engine::parse_run_config(
            R"({"dataset": {"kind": "spirals", "train_limit": 256}, "model": {"kind": "mlp"},
                          "batch_size": 32, "epochs": 100000, "scaler": {"preset": "classroom"}})")
            .config,
        {u"fp32"_s, u"amp-fp16"_s});
    auto* compare = window->findChild<QAbstractButton*>(u"primary"_s);
    ASSERT_NE(compare, nullptr);
    EXPECT_TRUE(compare->isEnabled());
    const int narrowest = window->minimumSizeHint().width();
    compare->setFocus();
    compare->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !compare->isEnabled(); }, 300'000));
    const auto* pause = qobject_cast<QAbstractButton*>(window->focusWidget());
    ASSERT_NE(pause, nullptr);
    EXPECT_TRUE(pause->text().contains(u"Pause"_s));
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.tracks()[1]->rows() >= 3; }, 300'000));
    // Not before: a run that ends by itself could do so before the window's first frame.
    feed.experiment().post(engine::Command::stop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    EXPECT_EQ(window->focusWidget(), compare);
    EXPECT_LE(window->minimumSizeHint().width(), narrowest) << "figures widen the window";
    link.select(3);
    EXPECT_EQ(window->findChild<QDockWidget*>(u"step"_s)->windowTitle(), u"Step 3"_s);
}

}  // namespace
}  // namespace ui
