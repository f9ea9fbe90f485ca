#include "window/main_window.h"

#include <QCloseEvent>
#include <QDesktopServices>
#include <QDragEnterEvent>
#include <QGuiApplication>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QToolButton>
#include <algorithm>

#include "feed/event_feed.h"
#include "pages/page_stack.h"
#include "pages/training_page.h"
#include "panels/frame/command_bar.h"
#include "panels/frame/work_strip.h"
#include "panels/settings/settings_panel.h"
#include "panels/step/step_chooser.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/changed_data_dialog.h"
#include "widgets/key_rule.h"
#include "widgets/spoken_texts.h"
#include "window/dock_layout.h"
#include "window/focus.h"
#include "window/main_menu.h"
#include "window/message_bar.h"
#include "window/quit_dialog.h"
#include "window/settings_rail.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

const QString railGroup = u"window/rail"_s;

QString railKey(const PageEntry& page) { return railGroup + u'/' + page.name; }

DockLayout::Columns columnsOf(const PageEntry& page) {
    using enum DockLayout::Columns;
    return page.name == u"training"_s ? both : page.takesWholeWidth ? none : left;
}

/// Whether the settings are a rail on this page: as the user left it there, else on pages that do
/// not use them, and in a narrow window on all but the first.
bool isRailed(const PageEntry& page, bool narrow) {
    const bool folds = narrow && columnsOf(page) != DockLayout::Columns::both;
    return QSettings().value(railKey(page), page.startsRailed || folds).toBool();
}

}  // namespace

MainWindow::MainWindow(const Context& context, const WindowParts& parts)
    : context_(context), parts_(parts) {
    setWindowTitle(u"Halftone"_s);
    installSpokenTexts();
    setAcceptDrops(true);
    setAnimated(false);
    setDockOptions(AllowNestedDocks | AllowTabbedDocks);
    resize(QSize(1440, 900).boundedTo(screen()->availableGeometry().size()));
    restorePlace();
    fill();
    new KeyRule(this);
    bar_->focusPrimary();
    connect(context_.commands, &Commands::failed, this, &MainWindow::show);
    connect(context_.commands, &Commands::started, this, [this] { message_->leave(); });
    connect(context_.commands, &Commands::resumeOffered, this, &MainWindow::offerToResume);
    connect(context_.commands, &Commands::dataChanged, this, &MainWindow::askAboutData);
    connect(context_.commands, &Commands::pageWanted, this,
            [this](const QString& page) { pages_->showPage(page); });
    connect(context_.commands, &Commands::settingsWanted, this, &MainWindow::focusSettings);
    // Later: an entry of the window's own menu has asked for it.
    if (context_.language != nullptr)
        connect(context_.language, &Language::changed, this, &MainWindow::fillAnew,
                Qt::QueuedConnection);
}

MainWindow::~MainWindow() = default;

void MainWindow::saveLayout() const {
    QSettings settings;
    settings.setValue(u"window/place"_s, normalGeometry());
    settings.setValue(u"window/maximized"_s, isMaximized());
    docks_->save();
}

void MainWindow::resetLayout() {
    docks_->reset();
    QSettings().remove(railGroup);
    showColumns();
}

void MainWindow::showColumns() {
    showPageColumns(pages_->shown(), isRailed(pages_->shown(), narrow()));
}

/// Not QWidget::restoreGeometry(): it reserves room for a title bar of the wrong size, so the
/// window would move down and shrink by a few pixels with every start.
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

void MainWindow::show(const Problem& problem) {
    using engine::ErrorCode;
    sayAgain_ = [this, problem] {
        Problem now = problem;
        if (!now.failure.isEmpty()) {
            now.sentence = now.failure.sentence();
            now.hint = now.failure.hint();
        }
        show(now);
    };
    if (problem.note && !problem.file.isEmpty()) {
        message_->show(problem, tr("Open"), [this, file = problem.file] {
            if (QDesktopServices::openUrl(QUrl::fromLocalFile(file))) return;
            show({tr("No program opens %1.").arg(file), {}, engine::ErrorCode::io, true});
        });
    } else if (problem.note) {
        message_->show(problem);
    } else if (problem.code == ErrorCode::data) {
        message_->show(problem, tr("Choose the data…"),
                       [this] { panels_.bodies<SettingsPanel>().front()->chooseDataPath(); });
    } else if (problem.code == ErrorCode::io) {
        message_->show(problem, tr("Keep runs elsewhere…"), [this] { emit runsFolderWanted(); });
    } else {
        message_->show(problem);
    }
}

/// Shows or hides the settings and their rail when the page changes, on a click on the rail or the
/// tool in the head of the settings, and from the menu.
void MainWindow::joinColumns() {
    connect(pages_, &PageStack::pageChanging, docks_.get(),
            [this](const PageEntry& page) { hidePageColumns(page); });
    connect(pages_, &PageStack::pageChanged, docks_.get(),
            [this](const PageEntry& page) { showPageColumns(page, isRailed(page, narrow())); });
    if (panels_.left.empty()) return;
    auto* close = new QToolButton(this);
    close->setObjectName(u"railClose"_s);
    close->setToolTip(tr("Collapse the settings"));
    close->setAccessibleName(close->toolTip());
    close->setIconSize({13, 13});
    const auto applyStyle = [this, close] {
        close->setIcon(themedIcon(*context_.theme, u"rail-close"_s));
    };
    connect(context_.theme, &Theme::changed, close, applyStyle);
    applyStyle();
    panels_.left.front()->addToHead(close);
    connect(rail_, &SettingsRail::clicked, this, [this, close] {
        setRailed(false);
        close->setFocus();
    });
    connect(close, &QToolButton::clicked, this, [this] {
        setRailed(true);
        rail_->setFocus();
    });
    for (const auto* panel : panels_.left) {
        connect(panel->toggleViewAction(), &QAction::triggered, this,
                [this](bool shown) { setRailed(!shown); });
    }
}

/// Called before another page is shown. A page is never visible together with columns that do not
/// belong to it, since a window too narrow for both would grow.
void MainWindow::hidePageColumns(const PageEntry& page) {
    docks_->showColumns(std::max(docks_->columns(), columnsOf(page)),
                        docks_->railed() || isRailed(page, narrow()));
    if (!docks_->showsRail()) rail_->hide();
}

void MainWindow::showPageColumns(const PageEntry& page, bool railed) {
    // A rail beside the settings would widen a window that is as narrow as it can be.
    if (!railed || page.takesWholeWidth) rail_->hide();
    docks_->showColumns(columnsOf(page), railed);
    rail_->setVisible(docks_->showsRail());
}

void MainWindow::setRailed(bool railed) {
    QSettings().setValue(railKey(pages_->shown()), railed);
    showPageColumns(pages_->shown(), railed);
}

void MainWindow::focusSettings() {
    if (pages_->shown().takesWholeWidth) pages_->showPage(u"training"_s);
    showPageColumns(pages_->shown(), false);
    for (auto* panel : panels_.left) {
        if (panel->findChild<SettingsPanel*>() == nullptr) continue;
        panel->show();
        panel->raise();
    }
    panels_.bodies<SettingsPanel>().front()->focusField(u"optimizer.lr"_s);
}

void MainWindow::offerToResume(const std::vector<engine::RunSummary>& runs) {
    sayAgain_ = [this, runs] { offerToResume(runs); };
    const engine::RunSummary& newest = runs.back();
    const QString run = QString::fromStdString(newest.run);
    if (runs.size() == 1) {
        const Problem problem{
            tr("Run %1 was interrupted at step %2.").arg(run, count(newest.steps)),
            tr("It can be resumed from its last checkpoint."), engine::ErrorCode::state, true};
        return message_->show(problem, tr("Resume"),
                              [this, newest] { context_.commands->resume(newest); });
    }
    QStringList names;
    for (const auto& each : runs) names << QString::fromStdString(each.run);
    const Problem problem{
        tr("Comparison %1 was interrupted at step %2 (runs %3).")
            .arg(count(newest.group_number), count(newest.steps), names.join(tr(", "))),
        tr("Its runs can be resumed together, from their last checkpoints."),
        engine::ErrorCode::state, true};
    message_->show(problem, tr("Resume"), [this, runs] { context_.commands->resumeGroup(runs); });
}

void MainWindow::askAboutData(const QString& what, bool asNewRun) {
    if (changedData_) return;  // of several runs each has failed
    changedData_ = new ChangedDataDialog(
        what,
        asNewRun ? tr("With this data the run goes on as a new run, which has its steps so far. "
                      "The steps to come are of other samples than those before.")
                 : tr("With this data the steps to come are of other samples than those before. "
                      "The run keeps a note of that."),
        this);
    connect(changedData_, &QDialog::accepted, context_.commands, &Commands::goOnWithData);
    changedData_->open();
}

bool MainWindow::event(QEvent* event) {
    const bool done = QMainWindow::event(event);
    if (event->type() == QEvent::MouseButtonRelease) docks_->remember();  // of a line between docks
    return done;
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    QMetaObject::invokeMethod(docks_.get(), &DockLayout::rememberFirst, Qt::QueuedConnection);
}

void MainWindow::fit() {
    docks_->fold(narrow());
    training_->setLow(height() < Theme::tableHeight());
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    fit();
    const bool was = event->oldSize().width() < Theme::foldWidth();
    if (was != narrow()) showColumns();
}

bool MainWindow::narrow() const { return width() < Theme::foldWidth(); }

bool MainWindow::focusNextPrevChild(bool next) {
    if (empties_) return false;  // a focused widget that goes passes the focus on
    QList<QWidget*> groups{bar_};
    if (pages_->row() != nullptr) groups << pages_->row() << chooser_;
    groups << rail_;
    for (auto* panel : panels_.left) groups << panel;
    groups << message_;
    if (pages_->currentWidget() != training_) groups << pages_->currentWidget();
    groups << training_->head();
    for (auto* panel : panels_.plots) groups << panel;
    for (auto* panel : panels_.right) groups << panel;
    groups << works_;
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

void MainWindow::askAboutWorks() {
    sayAgain_ = [this] { askAboutWorks(); };
    message_->show({tr("A file is still being written or read."),
                    tr("Quitting now gives it up; nothing of it is kept."),
                    engine::ErrorCode::state, true},
                   tr("Quit now"), [this] {
                       givesUpWorks_ = true;
                       close();
                   });
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (running()) {
        event->ignore();
        askToQuit();
        return;
    }
    if (context_.commands->works()->busy() && !givesUpWorks_) {
        event->ignore();
        askAboutWorks();
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
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) paths << url.toLocalFile();
    }
    context_.commands->openPaths(paths);
    event->acceptProposedAction();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    const bool escape = event->key() == Qt::Key_Escape;
    if (escape && training_->isVisible() && docks_->collapse()) return;
    if (escape && message_->isVisible()) {
        message_->hide();
    } else {
        QMainWindow::keyPressEvent(event);
    }
}

}  // namespace ui
