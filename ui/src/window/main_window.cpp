#include "window/main_window.h"

#include <QCloseEvent>
#include <QCoreApplication>
#include <QDesktopServices>
#include <QDragEnterEvent>
#include <QGuiApplication>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "commands/detached_runs.h"
#include "feed/event_feed.h"
#include "help/help_window.h"
#include "pages/page_stack.h"
#include "pages/training_page.h"
#include "panels/frame/command_bar.h"
#include "panels/settings/settings_panel.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/changed_data_dialog.h"
#include "widgets/key_rule.h"
#include "widgets/spoken_texts.h"
#include "widgets/widget_state.h"
#include "window/focus.h"
#include "window/main_menu.h"
#include "window/message_bar.h"
#include "window/quit_dialog.h"
#include "window/window_contents.h"

namespace ui {

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
    contents_->bar()->focusPrimary();
    connect(context_.commands, &Commands::failed, this, &MainWindow::show);
    connect(context_.commands, &Commands::started, this, [this] { contents_->message()->leave(); });
    connect(context_.commands, &Commands::resumeOffered, this, &MainWindow::offerToResume);
    connect(context_.commands, &Commands::dataChanged, this, &MainWindow::askAboutData);
    connect(context_.commands, &Commands::pageWanted, this,
            [this](const QString& page) { contents_->pages()->showPage(page); });
    connect(context_.commands, &Commands::settingsWanted, this,
            [this] { contents_->columns()->focusSettings(); });
    // Later: an entry of the window's own menu has asked for it.
    if (context_.language != nullptr)
        connect(context_.language, &Language::changed, this, &MainWindow::fillAnew,
                Qt::QueuedConnection);
}

MainWindow::~MainWindow() = default;

void MainWindow::fill() {
    contents_ = std::make_unique<WindowContents>(context_, parts_.panels, parts_.pages(), this);
    contents_->restore();
}

/// In another language. The window itself stays where it is, with its pages and what is set in
/// them; all widgets in it are made again, since each reads its words as it is made.
void MainWindow::fillAnew() {
    const QStringList made = contents_->pages()->made();
    const QString page = contents_->pages()->shown().name;
    const auto sayAgain = contents_->message()->isVisible() ? sayAgain_ : nullptr;
    QString alone;
    for (const auto* plot : contents_->panels().plots)
        if (contents_->docks()->isExpanded() && !plot->isHidden() && !plot->isFloating())
            alone = plot->objectName();
    const HelpWindow* help = contents_->menu()->help();
    const QString topic = help != nullptr ? help->topic() : QString();
    const QRect helpPlace = help != nullptr ? help->geometry() : QRect();
    WidgetState state = WidgetState::of(this);
    const auto sizes = contents_->sideSizes();
    contents_->docks()->save();
    setUpdatesEnabled(false);
    if (quit_) quit_->close();
    std::exchange(contents_, nullptr)->empty();
    fill();
    contents_->pages()->make(made);
    contents_->pages()->showPage(page);
    contents_->fit();
    contents_->resizeSides(sizes);
    for (auto* plot : contents_->panels().plots)
        if (plot->objectName() == alone) contents_->docks()->expand(plot);
    state.restore(this);
    if (context_.kept != nullptr) {
        delete context_.kept->findChild<KeptState*>(QString(), Qt::FindDirectChildrenOnly);
        new KeptState(std::move(state), this, context_.kept);
    }
    if (sayAgain) sayAgain();
    setUpdatesEnabled(true);
    if (!topic.isEmpty()) {
        contents_->menu()->showHelpWindow(topic);
        contents_->menu()->help()->setGeometry(helpPlace);
    }
    QMetaObject::invokeMethod(contents_->docks(), &DockLayout::rememberFirst, Qt::QueuedConnection);
}

void MainWindow::saveLayout() const {
    QSettings settings;
    settings.setValue(u"window/place"_s, normalGeometry());
    settings.setValue(u"window/maximized"_s, isMaximized());
    contents_->docks()->save();
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
        contents_->message()->show(problem, tr("Open"), [this, file = problem.file] {
            if (QDesktopServices::openUrl(QUrl::fromLocalFile(file))) return;
            show({tr("No program opens %1.").arg(file), {}, engine::ErrorCode::io, true});
        });
    } else if (problem.note) {
        contents_->message()->show(problem);
    } else if (problem.code == ErrorCode::data) {
        contents_->message()->show(problem, tr("Choose the data…"), [this] {
            contents_->panels().bodies<SettingsPanel>().front()->chooseDataPath();
        });
    } else if (problem.code == ErrorCode::io) {
        contents_->message()->show(problem, tr("Keep runs elsewhere…"),
                                   [this] { emit runsFolderWanted(); });
    } else {
        contents_->message()->show(problem);
    }
}

void MainWindow::offerToResume(const std::vector<engine::RunSummary>& runs) {
    sayAgain_ = [this, runs] { offerToResume(runs); };
    const engine::RunSummary& newest = runs.back();
    const QString run = QString::fromStdString(newest.run);
    if (runs.size() == 1) {
        const Problem problem{
            tr("Run %1 was interrupted at step %2.").arg(run, count(newest.steps)),
            tr("It can be resumed from its last checkpoint."), engine::ErrorCode::state, true};
        return contents_->message()->show(problem, tr("Resume"),
                                          [this, newest] { context_.commands->resume(newest); });
    }
    const QString names = stringList(runs, &engine::RunSummary::run).join(tr(", "));
    const Problem problem{
        tr("Comparison %1 was interrupted at step %2 (runs %3).")
            .arg(count(newest.group_number), count(newest.steps), names),
        tr("Its runs can be resumed together, from their last checkpoints."),
        engine::ErrorCode::state, true};
    contents_->message()->show(problem, tr("Resume"),
                               [this, runs] { context_.commands->resumeGroup(runs); });
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
    if (event->type() == QEvent::MouseButtonRelease)
        contents_->docks()->remember();  // of a line between docks
    return done;
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    QMetaObject::invokeMethod(contents_->docks(), &DockLayout::rememberFirst, Qt::QueuedConnection);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    if (!contents_) return;
    contents_->fit();
    const bool was = event->oldSize().width() < Theme::foldWidth();
    if (was != contents_->columns()->narrow()) contents_->columns()->show();
}

bool MainWindow::focusNextPrevChild(bool next) {
    if (!contents_) return false;  // a focused widget that goes passes the focus on
    QWidget* stop = neighbour(readingOrder(contents_->inReadingOrder()), focusWidget(), next);
    if (stop == nullptr) return false;
    stop->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
}

void MainWindow::askToQuit() {
    if (quit_) {
        quit_->raise();
        return;
    }
    // The window alone knows how a queue, a lesson or a twin goes on.
    const bool canTrainOn =
        context_.commands->actor() == nullptr && context_.feed->experiment().twin() == nullptr;
    quit_ = new QuitDialog(canTrainOn, this);
    connect(quit_, &QuitDialog::quitWanted, this, [this] { stopAndClose({}); });
    connect(quit_, &QuitDialog::trainOnWanted, this, [this] {
        std::vector<std::string> runs;
        for (const auto& track : context_.feed->experiment().tracks()) runs.push_back(track->run());
        stopAndClose(runs);
    });
    quit_->open();
}

/// `goOn`: the runs that another process continues then.
void MainWindow::stopAndClose(const std::vector<std::string>& goOn) {
    const auto leave = [this, left = std::make_shared<bool>(false), goOn] {
        if (context_.feed->experiment().isRunning() || std::exchange(*left, true)) return;
        if (trainOn(QCoreApplication::applicationFilePath(), *context_.feed->store(), goOn)) {
            close();
            return;
        }
        if (quit_) quit_->close();
        show({tr("The program cannot be started to train on."),
              tr("The run is saved: select it under Runs and choose Resume."),
              engine::ErrorCode::state});
    };
    context_.commands->stop();
    connect(context_.feed, &EventFeed::stateChanged, this, leave);
    leave();
}

void MainWindow::askAboutWorks() {
    sayAgain_ = [this] { askAboutWorks(); };
    contents_->message()->show(
        {tr("A file is still being written or read."),
         tr("Quitting now gives it up; nothing of it is kept."), engine::ErrorCode::state, true},
        tr("Quit now"), [this] {
            givesUpWorks_ = true;
            close();
        });
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (context_.feed->experiment().isRunning()) {
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
    if (escape && contents_->training()->isVisible() && contents_->docks()->collapse()) return;
    if (escape && contents_->message()->isVisible()) {
        contents_->message()->hide();
    } else {
        QMainWindow::keyPressEvent(event);
    }
}

}  // namespace ui
