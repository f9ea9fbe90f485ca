#include "window/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QMimeData>
#include <QScopedValueRollback>
#include <QScreen>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "feed/event_feed.h"
#include "panels/command_bar.h"
#include "panels/guide_card.h"
#include "panels/plot_panels.h"
#include "panels/run_cards.h"
#include "panels/settings_panel.h"
#include "panels/status_line.h"
#include "panels/verdict_bar.h"
#include "theme/theme.h"
#include "widgets/panel.h"
#include "window/focus_order.h"
#include "window/focus_ring.h"
#include "window/main_menu.h"
#include "window/message_bar.h"
#include "window/quit_dialog.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int layoutVersion = 1;

}  // namespace

MainWindow::MainWindow(const Context& context, QWidget* parent)
    : QMainWindow(parent), context_(context), panels_(makePanels(context, this)) {
    setWindowTitle(u"Halftone"_s);
    setAcceptDrops(true);
    setAnimated(false);
    setDockOptions(AllowNestedDocks | AllowTabbedDocks);
    auto* menu = new MainMenu(context_, panels_, this);
    connect(menu, &MainMenu::resetLayout, this, &MainWindow::resetLayout);
    auto* tools = addToolBar(tr("Commands"));
    tools->setObjectName(u"commands"_s);
    tools->setMovable(false);
    tools->setContextMenuPolicy(Qt::PreventContextMenu);
    bar_ = new CommandBar(context_, this);
    bar_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    tools->addWidget(bar_);
    tools->toggleViewAction()->setVisible(false);
    addToolBarBreak(Qt::TopToolBarArea);
    for (const auto area :
         {Qt::TopToolBarArea, Qt::LeftToolBarArea, Qt::RightToolBarArea, Qt::BottomToolBarArea}) {
        addMargin(area);
    }
    statusBar()->setSizeGripEnabled(false);
    statusBar()->addWidget(new StatusLine(context_, this), 1);
    buildCentre();
    placeSides();
    placePlots();
    connect(context_.commands, &Commands::failed, this, &MainWindow::show);
    connect(context_.commands, &Commands::started, message_, &QWidget::hide);
    resize(QSize(1440, 900).boundedTo(screen()->availableGeometry().size()));
    restoreLayout();
    new FocusRing(this);
    bar_->focusPrimary();
}

MainWindow::~MainWindow() {
    // The base class hides the panels as it goes, and there is nothing left here to tell of it.
    plots_->removeEventFilter(this);
    panels_.settings->disconnect(this);
    for (auto* panel : panels_.plots) panel->disconnect(this);
    for (auto* panel : panels_.side) panel->disconnect(this);
}

void MainWindow::addMargin(Qt::ToolBarArea area) {
    // Docks reach to the window's edge; an empty bar is the one thing that keeps them off it.
    auto* margin = new QToolBar(this);
    margin->setObjectName(u"margin%1"_s.arg(static_cast<int>(area)));
    margin->setProperty("role", u"margin"_s);
    margin->setMovable(false);
    margin->setContextMenuPolicy(Qt::PreventContextMenu);
    margin->toggleViewAction()->setVisible(false);
    const bool wide = area == Qt::TopToolBarArea || area == Qt::BottomToolBarArea;
    if (wide) {
        margin->setFixedHeight(size::gap);
    } else {
        margin->setFixedWidth(size::gap);
    }
    addToolBar(area, margin);
}

void MainWindow::buildCentre() {
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::gap);
    cards_ = new RunCards(context_, centre);
    verdict_ = new VerdictBar(context_, centre);
    plots_ = new QMainWindow(centre);
    plots_->setWindowFlags(Qt::Widget);  // the constructor always makes it a window
    plots_->setAnimated(false);
    plots_->installEventFilter(this);
    plots_->setDockOptions(AllowNestedDocks | AllowTabbedDocks);
    column->addWidget(new GuideCard(context_, centre));
    column->addWidget(cards_);
    column->addWidget(verdict_);
    column->addWidget(plots_, 1);
    setCentralWidget(centre);
    message_ = new MessageBar(context_.theme, centre);
    for (auto* panel : panels_.plots) {
        connect(panel, &Panel::expandRequested, this, [this, panel] { expand(panel); });
    }
    const auto follow = [this](const Panel* panel) {
        connect(panel, &QDockWidget::visibilityChanged, this, &MainWindow::remember);
        connect(panel, &QDockWidget::dockLocationChanged, this, &MainWindow::remember);
        connect(panel, &QDockWidget::topLevelChanged, this, &MainWindow::remember);
    };
    follow(panels_.settings);
    for (const auto* panel : panels_.side) follow(panel);
}

void MainWindow::placeSides() {
    addDockWidget(Qt::LeftDockWidgetArea, panels_.settings);
    for (auto* panel : panels_.side) {
        addDockWidget(Qt::RightDockWidgetArea, panel);
        panel->show();
    }
    panels_.settings->show();
    resizeDocks({panels_.settings, panels_.side.front()}, {size::sideColumn, size::sideColumn},
                Qt::Horizontal);
    QList<QDockWidget*> column(panels_.side.begin(), panels_.side.end());
    resizeDocks(column, {280, 270, 220}, Qt::Vertical);
}

void MainWindow::placePlots() {
    const auto& all = panels_.plots;
    plots_->addDockWidget(Qt::TopDockWidgetArea, all[0]);
    plots_->splitDockWidget(all[0], all[2], Qt::Vertical);
    plots_->splitDockWidget(all[0], all[1], Qt::Horizontal);
    plots_->splitDockWidget(all[2], all[3], Qt::Horizontal);
    for (auto* panel : all) panel->show();
    plots_->resizeDocks({all[0], all[2]}, {1000, 1000}, Qt::Vertical);
    plots_->resizeDocks({all[0], all[1]}, {1000, 1000}, Qt::Horizontal);
    plots_->resizeDocks({all[2], all[3]}, {1000, 1000}, Qt::Horizontal);
}

void MainWindow::resetLayout() {
    collapse();
    folded_ = false;
    narrow_.clear();
    wide_.clear();
    widePlots_.clear();
    narrowPlots_.clear();
    for (auto* panel : panels_.side) panel->setFloating(false);
    for (auto* panel : panels_.plots) panel->setFloating(false);
    panels_.settings->setFloating(false);
    placeSides();
    for (auto* panel : panels_.plots) plots_->removeDockWidget(panel);
    placePlots();
    fold(width() < size::foldBelow);
    remember();
}

void MainWindow::saveLayout() const {
    QSettings settings;
    settings.setValue(u"window/place"_s, normalGeometry());
    settings.setValue(u"window/maximized"_s, isMaximized());
    // Folded and expanded are passing: the wide layout and all plots are what is remembered.
    settings.setValue(u"window/docks"_s, folded_ ? wide_ : saveState(layoutVersion));
    settings.setValue(u"window/plots"_s, expanded_ ? spread_ : plots_->saveState(layoutVersion));
}

void MainWindow::restoreLayout() {
    restorePlace();
    const QSettings settings;
    restoreState(settings.value(u"window/docks"_s).toByteArray(), layoutVersion);
    plots_->restoreState(settings.value(u"window/plots"_s).toByteArray(), layoutVersion);
}

/// QWidget::restoreGeometry() would keep room for a title bar of its own idea, so that the window
/// came down and shrank by a few pixels with every start.
void MainWindow::restorePlace() {
    const QSettings settings;
    QRect place = settings.value(u"window/place"_s).toRect();
    if (place.isEmpty()) return;
    const QScreen* there = QGuiApplication::screenAt(place.center());
    const QRect room = (there != nullptr ? there : screen())->availableGeometry();
    if (!room.contains(place)) {
        place.setSize(place.size().boundedTo(room.size()));
        place.moveLeft(std::clamp(place.left(), room.left(), room.right() + 1 - place.width()));
        place.moveTop(std::clamp(place.top(), room.top(), room.bottom() + 1 - place.height()));
    }
    setGeometry(place);
    if (settings.value(u"window/maximized"_s).toBool()) setWindowState(Qt::WindowMaximized);
}

/// What the user made of the wide or the narrow layout. Not after a resize: docks that gave way to
/// a small window would not get their sizes back.
void MainWindow::remember() {
    if (placing_ || !isVisible()) return;
    (folded_ ? narrow_ : wide_) = saveState(layoutVersion);
    if (!expanded_) (folded_ ? narrowPlots_ : widePlots_) = plots_->saveState(layoutVersion);
}

void MainWindow::unfold() {
    const QScopedValueRollback placing(placing_, true);
    folded_ = false;
    restoreState(wide_, layoutVersion);
    restorePlots(widePlots_);
}

void MainWindow::restorePlots(const QByteArray& state) {
    if (state.isEmpty()) return;
    // Later: the plots have the room that they had then once the window is laid out anew.
    const auto restore = [this, state, folded = folded_] {
        if (expanded_ || folded != folded_) return;
        const QScopedValueRollback placing(placing_, true);
        plots_->restoreState(state, layoutVersion);
    };
    QMetaObject::invokeMethod(this, restore, Qt::QueuedConnection);
}

void MainWindow::fold(bool folded) {
    if (folded == folded_) return;
    if (!folded) return unfold();
    const QScopedValueRollback placing(placing_, true);
    if (wide_.isEmpty()) wide_ = saveState(layoutVersion);
    folded_ = true;
    if (!narrow_.isEmpty()) {
        restoreState(narrow_, layoutVersion);
        restorePlots(narrowPlots_);
        return;
    }
    QDockWidget* first = nullptr;
    for (auto* panel : panels_.side) {
        if (panel->isFloating() || dockWidgetArea(panel) != Qt::RightDockWidgetArea) continue;
        const bool shown = !panel->isHidden();
        addDockWidget(Qt::BottomDockWidgetArea, panel);
        if (first != nullptr) tabifyDockWidget(first, panel);
        panel->setVisible(shown);
        if (first == nullptr) first = panel;
    }
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    if (first == nullptr) return;
    first->raise();
    resizeDocks({first}, {190}, Qt::Vertical);
    QMetaObject::invokeMethod(this, &MainWindow::remember, Qt::QueuedConnection);
}

void MainWindow::expand(Panel* panel) {
    if (expanded_) {
        collapse();
        return;
    }
    if (panel->isFloating()) return;
    spread_ = plots_->saveState(layoutVersion);
    for (auto* other : panels_.plots) {
        if (other != panel && !other->isFloating()) other->hide();
    }
    expanded_ = true;
}

void MainWindow::collapse() {
    if (!std::exchange(expanded_, false)) return;
    plots_->restoreState(spread_, layoutVersion);
}

void MainWindow::show(const Problem& problem) {
    using engine::ErrorCode;
    if (problem.note) {
        message_->show(problem);
    } else if (problem.code == ErrorCode::data) {
        message_->show(problem, tr("Choose the data…"),
                       [this] { panels_.settingsBody->chooseDataPath(); });
    } else if (problem.code == ErrorCode::io) {
        message_->show(problem, tr("Keep runs elsewhere…"), [this] { emit runsFolderWanted(); });
    } else {
        message_->show(problem);
    }
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (watched == plots_ && event->type() == QEvent::MouseButtonRelease) {
        QMetaObject::invokeMethod(this, &MainWindow::remember, Qt::QueuedConnection);
    }
    return QMainWindow::eventFilter(watched, event);
}

bool MainWindow::event(QEvent* event) {
    const bool done = QMainWindow::event(event);
    if (event->type() == QEvent::MouseButtonRelease) remember();  // of a line between two docks
    return done;
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    QMetaObject::invokeMethod(
        this,
        [this] {
            if (wide_.isEmpty()) remember();
        },
        Qt::QueuedConnection);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    fold(width() < size::foldBelow);
    cards_->setLow(height() < size::tableBelow);
}

bool MainWindow::focusNextPrevChild(bool next) {
    QList<QWidget*> groups{bar_, panels_.settings, message_};
    const auto* centre = centralWidget()->layout();
    for (int i = 0; i < centre->count(); ++i) {
        if (centre->itemAt(i)->widget() != plots_) groups << centre->itemAt(i)->widget();
    }
    for (auto* panel : panels_.plots) groups << panel;
    for (auto* panel : panels_.side) groups << panel;
    QWidget* stop = neighbour(readingOrder(groups), focusWidget(), next);
    if (stop == nullptr) return false;
    stop->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
}

bool MainWindow::running() const {
    using engine::RunState;
    const RunState state = context_.feed->state();
    return context_.feed->live() && state != RunState::idle && state != RunState::done &&
           state != RunState::failed;
}

void MainWindow::askToQuit() {
    if (quit_) {
        quit_->raise();
        return;
    }
    quit_ = new QuitDialog(this);
    connect(quit_, &QuitDialog::quitWanted, this, [this] {
        context_.commands->stop();
        connect(context_.feed, &EventFeed::stateChanged, this, [this] {
            if (!running()) close();
        });
        if (!running()) close();
    });
    quit_->open();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (running()) {
        event->ignore();
        askToQuit();
        return;
    }
    if (quit_) quit_->close();
    saveLayout();
    QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) context_.commands->openPath(url.toLocalFile());
    }
    event->acceptProposedAction();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && expanded_) {
        collapse();
    } else if (event->key() == Qt::Key_Escape && message_->isVisible()) {
        message_->hide();
    } else {
        QMainWindow::keyPressEvent(event);
    }
}

}  // namespace ui
