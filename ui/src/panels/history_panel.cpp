#include "panels/history_panel.h"

#include <QDesktopServices>
#include <QHeaderView>
#include <QMenu>
#include <QUrl>
#include <variant>

#include "background.h"
#include "commands.h"
#include "models/run_list_model.h"
#include "models/settings_model.h"
#include "theme/theme.h"
#include "ui/event_feed.h"
#include "widgets/csv_export.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// The runs, or why they cannot be listed.
using Listed = std::variant<std::vector<engine::RunSummary>, engine::Error>;

}  // namespace

HistoryPanel::HistoryPanel(const Context& context, QWidget* parent)
    : QTreeView(parent), context_(context), model_(new RunListModel(context.theme, this)) {
    setModel(model_);
    setRootIsDecorated(false);
    setUniformRowHeights(true);
    setHeaderHidden(true);
    setSelectionMode(ExtendedSelection);
    setSelectionBehavior(SelectRows);
    setContextMenuPolicy(Qt::CustomContextMenu);
    setTextElideMode(Qt::ElideRight);
    setMinimumHeight(60);
    setAccessibleName(tr("Run history"));
    header()->setStretchLastSection(false);
    header()->setMinimumSectionSize(30);
    header()->setSectionResizeMode(RunListModel::NameColumn, QHeaderView::Stretch);
    header()->setSectionResizeMode(RunListModel::AccuracyColumn, QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(RunListModel::StateColumn, QHeaderView::ResizeToContents);
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        if (!filling_) showChosen();
    });
    connect(this, &QTreeView::customContextMenuRequested, this, &HistoryPanel::openMenu);
    connect(context_.feed, &EventFeed::stateChanged, this, [this](engine::RunState state) {
        // Short epochs go from training to evaluating and back many times a second.
        const bool trains =
            state == engine::RunState::training || state == engine::RunState::evaluating;
        if (!(trains && trained_)) reload();
        trained_ = trains;
    });
    connect(context_.feed, &EventFeed::storeChanged, this, &HistoryPanel::reload);
    connect(context_.feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>&, const engine::Event& event) {
                if (std::holds_alternative<engine::RunDone>(event)) reload();
            });
    // A new experiment takes the screen: what was chosen is no longer on it.
    connect(context_.commands, &Commands::started, this, [this] {
        filling_ = true;
        clearSelection();
        filling_ = false;
    });
    connect(context_.commands, &Commands::runOpened, this, &HistoryPanel::openFolder);
    connect(context_.theme, &Theme::changed, viewport(), qOverload<>(&QWidget::update));
    reload();
}

void HistoryPanel::reload() {
    if (!context_.feed->store()) return;
    if (reloading_) {
        again_ = true;
        return;
    }
    reloading_ = true;
    inBackground(
        this,
        [store = context_.feed->store()]() -> Listed {
            try {
                return store->list();
            } catch (const engine::Error& error) {
                return error;
            }
        },
        [this](Listed listed) {
            reloading_ = false;
            if (const auto* error = std::get_if<engine::Error>(&listed)) {
                context_.commands->report(*error);
            } else {
                fill(std::get<std::vector<engine::RunSummary>>(std::move(listed)));
            }
            if (std::exchange(again_, false)) reload();
        });
}

void HistoryPanel::fill(std::vector<engine::RunSummary> runs) {
    filling_ = true;
    std::vector<std::string> kept;
    for (const auto& run : chosen()) kept.push_back(run.run);
    model_->setRuns(std::move(runs));
    for (const auto& run : kept) {
        const int row = model_->rowOf(run);
        if (row < 0) continue;
        selectionModel()->select(model_->index(row, 0),
                                 QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
    filling_ = false;
    if (!wanted_.isEmpty()) openFolder(std::exchange(wanted_, {}));
}

std::vector<engine::RunSummary> HistoryPanel::chosen() const {
    std::vector<engine::RunSummary> runs;
    auto rows = selectionModel()->selectedRows();
    // Oldest first: the first of a comparison is its baseline.
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.row() > b.row(); });
    for (const auto& index : rows) runs.push_back(model_->run(index.row()));
    return runs;
}

void HistoryPanel::paintEvent(QPaintEvent* event) {
    QTreeView::paintEvent(event);
    if (model_->rowCount() > 0) return;
    paintEmpty(viewport(), *context_.theme,
               tr("Every run is kept and listed here. Select some to lay them over one another."));
}

void HistoryPanel::showChosen() {
    try {
        context_.feed->showStored(chosen());
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
}

void HistoryPanel::openFolder(const QString& folder) {
    if (reloading_ || !context_.feed->store()) {
        wanted_ = folder;  // until the list is there
        return;
    }
    const QString name = QFileInfo(folder).canonicalFilePath();
    for (int row = 0; row < model_->rowCount(); ++row) {
        const auto path = QString::fromStdString(model_->run(row).folder.string());
        if (QFileInfo(path).canonicalFilePath() == name) {
            setCurrentIndex(model_->index(row, 0));
            return;
        }
    }
    context_.commands->report(
        {tr("The run in %1 is not in the history.").arg(folder),
         tr("Move its folder under %1, then rebuild the history in the Run menu.")
             .arg(QString::fromStdString(context_.feed->store()->root().string())),
         engine::ErrorCode::data, true});
}

void HistoryPanel::openMenu(const QPoint& at) {
    const QModelIndex index = indexAt(at);
    if (!index.isValid()) return;
    const engine::RunSummary run = model_->run(index.row());
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Use its settings")), &QAction::triggered, this,
            [this, run] { context_.settings->load(run.config); });
    connect(menu->addAction(tr("Export steps as CSV…")), &QAction::triggered, this,
            [this] { exportCsv(this, context_.commands, chosen()); });
    connect(menu->addAction(tr("Open its folder")), &QAction::triggered, this, [run] {
        QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(run.folder.string())));
    });
    menu->popup(viewport()->mapToGlobal(at));
}

}  // namespace ui
