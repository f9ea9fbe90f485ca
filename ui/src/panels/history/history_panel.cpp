#include "panels/history/history_panel.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollBar>
#include <QUrl>
#include <algorithm>

#include "commands/commands.h"
#include "commands/run_history.h"
#include "feed/event_feed.h"
#include "models/run_list_model.h"
#include "models/settings_model.h"
#include "panels/history/run_actions.h"
#include "panels/history/run_delegate.h"
#include "panels/history/run_export.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/theme.h"
#include "view/view.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// Ids of the experiment's runs that have begun.
std::vector<std::string> liveRuns(const EventFeed& feed) {
    std::vector<std::string> runs;
    for (const auto& track : feed.liveTracks()) {
        if (!track->run().empty()) runs.push_back(track->run());
    }
    return runs;
}

}  // namespace

HistoryPanel::HistoryPanel(const Context& context, QWidget* parent)
    : QListView(parent), context_(context), model_(new RunListModel(this)) {
    setModel(model_);
    setItemDelegate(new RunDelegate(context_.theme, this));
    setUniformItemSizes(true);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(EditKeyPressed);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setContextMenuPolicy(Qt::CustomContextMenu);
    setMinimumHeight(60);
    setAccessibleName(tr("Run history"));
    join();
    if (context_.history->isRead()) fill();
}

void HistoryPanel::join() {
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        if (filling_) return;
        chooseLive_ = false;
        showChosen();
    });
    connect(selectionModel(), &QItemSelectionModel::currentChanged, this,
            &HistoryPanel::selectRunOf);
    connect(this, &QListView::clicked, this, &HistoryPanel::selectRunOf);
    connect(context_.link, &PlotLink::selectedChanged, this, &HistoryPanel::followSelectedRun);
    connect(model_, &RunListModel::renameWanted, this,
            [this](const QString& run, const QString& title) {
                context_.history->setTitle(run.toStdString(), title);
            });
    connect(this, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        fillMenu(menu);
        menu->popup(viewport()->mapToGlobal(at));
    });
    connect(context_.history, &RunHistory::changed, this, &HistoryPanel::fill);
    connect(context_.history, &RunHistory::figuresChanged, this,
            [this] { model_->setFigures(*context_.history->runs()); });
    connect(context_.feed, &EventFeed::tracksChanged, this, &HistoryPanel::tracksChanged);
    connect(context_.commands, &Commands::started, this, [this] {
        chooseLive_ = true;
        chooseLive();
    });
    connect(context_.commands, &Commands::runOpened, this,
            [this](const QString& folder) { openFolders({folder}); });
    connect(context_.commands, &Commands::runsOpened, this, &HistoryPanel::openFolders);
    connect(context_.theme, &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void HistoryPanel::attachTo(ui::Panel* panel) {
    QMenu* menu = panel->menu();
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        fillMenu(menu);
    });
}

void HistoryPanel::showEvent(QShowEvent* event) {
    QListView::showEvent(event);
    if (!event->spontaneous()) context_.history->setWatched(true);
}

void HistoryPanel::hideEvent(QHideEvent* event) {
    if (!event->spontaneous()) context_.history->setWatched(false);
    QListView::hideEvent(event);
}

void HistoryPanel::reload() { context_.history->reload(); }

void HistoryPanel::fill() {
    filling_ = true;
    std::vector<std::string> kept;
    for (const auto& run : chosen()) kept.push_back(run.run);
    const int scrolled = verticalScrollBar()->value();
    model_->setRuns(*context_.history->runs());
    for (const auto& run : kept) {
        const int row = model_->rowOf(run);
        if (row >= 0) selectionModel()->select(model_->index(row), QItemSelectionModel::Select);
    }
    filling_ = false;
    verticalScrollBar()->setValue(scrolled);
    tracksChanged();
    if (!wanted_.isEmpty()) openFolders(std::exchange(wanted_, {}));
    offerToResume();
}

/// The newest run is shown if another process trains it, perhaps since the last window was closed.
/// If it was killed, the user probably wants to continue it, with its comparison, so that is
/// offered first.
void HistoryPanel::offerToResume() {
    if (std::exchange(offered_, true) || context_.feed->live() || model_->rowCount() == 0) return;
    const auto& newest = model_->run(0);
    if (newest.state == "running" && !selectionModel()->hasSelection()) return chooseAll({newest});
    if (newest.state != "interrupted" || newest.origin) return;
    context_.commands->offerToResume(withItsComparison(newest, *context_.history->runs()));
}

void HistoryPanel::chooseAll(const std::vector<engine::RunSummary>& runs) {
    QItemSelection rows;
    for (const auto& run : runs) {
        const int row = model_->rowOf(run.run);
        if (row >= 0) rows.select(model_->index(row), model_->index(row));
    }
    selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
}

void HistoryPanel::tracksChanged() {
    std::set<std::string> shown;
    for (const auto& track : context_.feed->tracks()) shown.insert(track->run());
    model_->setShown(std::move(shown));
    chooseLive();
}

void HistoryPanel::chooseLive() {
    if (!chooseLive_) return;
    QItemSelection rows;
    for (const auto& run : liveRuns(*context_.feed)) {
        const int row = model_->rowOf(run);
        // A run of this experiment that the list lacks begins another reading of it.
        if (row < 0) return reload();
        rows.select(model_->index(row), model_->index(row));
    }
    filling_ = true;
    selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
    filling_ = false;
    if (!rows.isEmpty()) scrollToTop();
}

bool HistoryPanel::isShown(const std::string& run) const {
    const int row = model_->rowOf(run);
    return row >= 0 && model_->index(row).data(RunListModel::ShownRole).toBool();
}

std::vector<engine::RunSummary> HistoryPanel::chosen() const {
    std::vector<engine::RunSummary> runs;
    auto rows = selectionModel()->selectedIndexes();
    // Oldest first: the first of a comparison is its baseline.
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.row() > b.row(); });
    for (const auto& index : rows) runs.push_back(model_->run(index.row()));
    return runs;
}

void HistoryPanel::paintEvent(QPaintEvent* event) {
    QListView::paintEvent(event);
    if (model_->rowCount() > 0) return;
    paintEmpty(viewport(), *context_.theme,
               tr("Every run is saved and listed here. Select several to overlay them."));
}

void HistoryPanel::showChosen() {
    const auto runs = chosen();
    const auto live = liveRuns(*context_.feed);
    const auto isLive = [&](const std::string& run) {
        return std::find(live.begin(), live.end(), run) != live.end();
    };
    const auto tracks = context_.feed->tracks();
    const bool onlyLive =
        std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return isLive(run.run); }) &&
        std::all_of(tracks.begin(), tracks.end(), [&](const auto& track) {
            return track->run().empty() || isLive(track->run());
        });
    // The experiment is on screen as it is, and stays so.
    if (onlyLive) return;
    try {
        context_.feed->showStored(runs);
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

void HistoryPanel::selectRunOf(const QModelIndex& index) {
    if (filling_ || !index.isValid()) return;
    for (const auto& track : context_.feed->tracks()) {
        if (track->run() == model_->run(index.row()).run) context_.link->selectRun(track);
    }
}

void HistoryPanel::followSelectedRun() {
    const auto track = selectedTrack(context_);
    const int row = track ? model_->rowOf(track->run()) : -1;
    if (row < 0) return;
    filling_ = true;
    selectionModel()->setCurrentIndex(model_->index(row), QItemSelectionModel::NoUpdate);
    filling_ = false;
}

void HistoryPanel::toggle(const engine::RunSummary& run) {
    const auto live = liveRuns(*context_.feed);
    if (std::find(live.begin(), live.end(), run.run) != live.end()) {
        context_.feed->setHidden(run.run, isShown(run.run));
        return;
    }
    std::vector<engine::RunSummary> runs;
    for (int row = model_->rowCount() - 1; row >= 0; --row) {
        const auto& other = model_->run(row);
        const bool live_ = std::find(live.begin(), live.end(), other.run) != live.end();
        // The experiment's own runs among them keep it on screen.
        if (live_ || (isShown(other.run) != (other.run == run.run))) runs.push_back(other);
    }
    try {
        context_.feed->showStored(runs);
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

void HistoryPanel::mousePressEvent(QMouseEvent* event) {
    const QModelIndex index = indexAt(event->pos());
    const bool onEye = index.isValid() && event->button() == Qt::LeftButton &&
                       RunDelegate::eye(visualRect(index)).contains(event->pos());
    if (onEye) {
        toggle(model_->run(index.row()));
    } else {
        QListView::mousePressEvent(event);
    }
}

void HistoryPanel::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Delete && state() != EditingState) {
        askToDelete();
    } else {
        QListView::keyPressEvent(event);
    }
}

void HistoryPanel::openFolders(const QStringList& folders) {
    if (context_.history->isReading() || !context_.feed->store()) {
        wanted_ = folders;  // until the list is there
        return;
    }
    QStringList missing = folders;
    QItemSelection rows;
    for (int row = 0; row < model_->rowCount(); ++row) {
        const QFileInfo at(QString::fromStdString(model_->run(row).folder.string()));
        const auto isHere = [name = at.canonicalFilePath()](const QString& folder) {
            return QFileInfo(folder).canonicalFilePath() == name;
        };
        if (missing.removeIf(isHere) > 0) rows.select(model_->index(row), model_->index(row));
    }
    // They were entered a moment ago.
    if (!missing.isEmpty() && std::exchange(looked_, folders) != folders) {
        wanted_ = folders;
        return reload();
    }
    looked_.clear();
    if (!rows.isEmpty()) {
        selectionModel()->setCurrentIndex(rows.indexes().back(), QItemSelectionModel::NoUpdate);
        selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
    }
    if (missing.isEmpty()) return;
    context_.commands->report(
        {tr("The run in %1 is not in the history.").arg(missing.front()),
         tr("Move its folder under %1, then rebuild the history in the Run menu.")
             .arg(QString::fromStdString(context_.feed->store()->root().string())),
         engine::ErrorCode::data, true});
}

Panel* makeHistoryPanel(const Context& context, const QString& name, QWidget* parent) {
    const QString title = QCoreApplication::translate("Panels", "Runs");
    auto* body = new HistoryPanel(context);
    auto* panel = new Panel(context.theme, name, title, body, parent);
    body->attachTo(panel);
    return panel;
}

void HistoryPanel::fillMenu(QMenu* menu) {
    const auto runs = chosen();
    const auto add = [&](const QString& text, bool enabled, auto slot) {
        auto* action = menu->addAction(text);
        action->setEnabled(enabled);
        connect(action, &QAction::triggered, this, slot);
    };
    const bool one = runs.size() == 1;
    const auto first = runs.empty() ? engine::RunSummary{} : runs.front();
    const auto& all = *context_.history->runs();
    add(tr("Compare selected runs"), runs.size() > 1, [this] { showChosen(); });
    add(one && isShown(first.run) ? tr("Hide on plots") : tr("Show on plots"), one,
        [this, first] { toggle(first); });
    menu->addSeparator();
    add(tr("Resume"), whyNotResumed(runs).isEmpty(), [this, runs, first] {
        if (runs.size() > 1)
            resumeTogether(context_, runs);
        else
            resumeOrAsk(this, context_.commands, first);
    });
    if (one && first.state == "running" && !first.origin) {
        using engine::OutsideRequest;
        const auto send = [this, first](OutsideRequest request) {
            return [this, first, request] { sendRequest(context_.commands, first, request); };
        };
        add(tr("Pause"), !first.paused, send(OutsideRequest::pause));
        add(tr("Go on"), first.paused, send(OutsideRequest::unpause));
        add(tr("Stop"), true, send(OutsideRequest::stop));
    }
    // Settings of another program are none of ours.
    add(tr("Load settings"), one && !first.origin,
        [this, first] { context_.settings->load(first.config); });
    add(tr("Export steps as CSV…"), !runs.empty(),
        [this] { exportCsv(this, context_.commands, chosen()); });
    add(tr("Select its comparison"), one && withItsComparison(first, all).size() > 1,
        [this, first] { chooseAll(withItsComparison(first, *context_.history->runs())); });
    add(tr("Report…"), !runs.empty(),
        [this] { exportReport(this, context_.commands, context_.feed->store(), chosen()); });
    add(one ? tr("Export run…") : tr("Export runs…"), !runs.empty(), [this, runs, first] {
        if (runs.size() > 1)
            exportRuns(this, context_.commands, runs);
        else
            exportRun(this, context_.commands, first);
    });
    add(tr("Show folder"), one, [first] {
        QDesktopServices::openUrl(
            QUrl::fromLocalFile(QString::fromStdString(first.folder.string())));
    });
    menu->addSeparator();
    add(tr("Rename…"), one, [this, first] { edit(model_->index(model_->rowOf(first.run))); });
    add(tr("Delete…"), !runs.empty(), [this] { askToDelete(); });
}

void HistoryPanel::askToDelete() {
    const auto runs = chosen();
    if (runs.empty()) return;
    const QString question = tr("Delete %1?").arg(nameOfRuns(runs, *context_.history->runs()));
    auto* box = new QMessageBox(QMessageBox::Question, tr("Delete runs"), question,
                                QMessageBox::Cancel, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(
        tr("Settings, events and all steps move to the trash. Without a trash they are deleted "
           "for good."));
    auto* yes = box->addButton(tr("Delete"), QMessageBox::DestructiveRole);
    yes->setObjectName(u"deleteRuns"_s);
    connect(yes, &QAbstractButton::clicked, this, [this, runs] { remove(runs); });
    box->open();
}

void HistoryPanel::remove(const std::vector<engine::RunSummary>& runs) {
    std::vector<std::string> ids;
    for (const auto& run : runs) {
        if (isShown(run.run) && run.state != "running") toggle(run);
        ids.push_back(run.run);
    }
    context_.history->remove(ids);
}

}  // namespace ui
