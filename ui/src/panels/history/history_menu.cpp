// Actions on the selected runs of the history.
#include <QDesktopServices>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QUrl>

#include "commands/commands.h"
#include "commands/run_history.h"
#include "feed/event_feed.h"
#include "models/run_list_model.h"
#include "models/settings_model.h"
#include "panels/history/csv_export.h"
#include "panels/history/history_panel.h"
#include "panels/history/run_actions.h"
#include "panels/history/run_export.h"
#include "text/format.h"

namespace ui {

using namespace Qt::StringLiterals;

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
