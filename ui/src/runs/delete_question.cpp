#include "runs/delete_question.h"

#include <QPushButton>
#include <algorithm>
#include <utility>

#include "commands/commands.h"
#include "commands/run_history.h"
#include "engine/base/error.h"
#include "engine/runs/disk_use.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "panels/history/run_actions.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

DeleteQuestion::DeleteQuestion(const Context& context, QWidget* parent)
    : QFrame(parent), context_(context) {
    setObjectName(u"guide"_s);
    auto* row = makeRow(this, {size::inside, size::grid, size::gap, size::grid}, size::gap);
    words_ = withName(makeProse({}, nullptr, this), u"deleteQuestion"_s);
    words_->setTextFormat(Qt::PlainText);
    row->addWidget(words_, 1);
    agree_ = withName(new QPushButton(this), u"deleteAgreed"_s);
    connect(agree_, &QPushButton::clicked, this, [this] { act_(); });
    row->addWidget(agree_);
    auto* cancel = new QPushButton(tr("Cancel"), this);
    connect(cancel, &QPushButton::clicked, this, &DeleteQuestion::dismiss);
    row->addWidget(cancel);
    hide();
}

void DeleteQuestion::ask(const std::vector<engine::RunSummary>& runs) {
    runs_ = runs;
    if (runs_.empty()) return;
    const QString what = tr("Delete %1?").arg(nameOfRuns(runs_, *context_.history->runs()));
    ask(joined({what, tr("Settings, events and all steps move to the trash. "
                         "Without a trash they are deleted for good.")}),
        tr("Delete"), tr("Run %1 is being trained. Stop it before you delete it."),
        [this] { remove(); });
}

void DeleteQuestion::askToFree(const std::vector<engine::RunSummary>& runs) {
    runs_ = runs;
    if (runs_.empty()) return;
    engine::SpareCheckpoints all;
    std::vector<std::string> ids;
    for (const auto& run : runs_) {
        const auto spare = engine::spare_checkpoints(run.folder);
        all.count += spare.count;
        all.bytes += spare.bytes;
        ids.push_back(run.run);
    }
    const QString what =
        tr("Free the checkpoints of %1?").arg(nameOfRuns(runs_, *context_.history->runs()));
    ask(all.count == 0
            ? tr("There is nothing to free: only the best and the last checkpoints are left.")
            : joined(
                  {what, tr("%1 checkpoints (%2) are deleted for good. The best and the last one "
                            "of each run stay.")
                             .arg(count(all.count), bytes(all.bytes))}),
        tr("Free"), tr("Run %1 is being trained. Stop it before you free its checkpoints."),
        [this, ids] {
            dismiss();
            context_.history->freeCheckpoints(ids);
        });
    if (all.count == 0) agree_->hide();
}

void DeleteQuestion::ask(const QString& words, const QString& agree, const QString& whyNot,
                         std::function<void()> act) {
    act_ = std::move(act);
    agree_->setText(agree);
    const auto running =
        std::ranges::find(runs_, std::string("running"), &engine::RunSummary::state);
    const bool refused = running != runs_.end();
    agree_->setVisible(!refused);
    if (refused) {
        words_->setText(whyNot.arg(QString::fromStdString(running->run)));
    } else {
        words_->setText(words);
    }
    show();
    if (!refused) agree_->setFocus();
}

void DeleteQuestion::remove() {
    std::vector<std::string> ids;
    for (const auto& run : runs_) ids.push_back(run.run);
    dismiss();
    // A deleted run does not stay on the plots.
    std::vector<engine::RunSummary> left;
    bool shown = false;
    for (const auto& track : context_.feed->tracks()) {
        const bool goes = std::ranges::find(ids, track->run()) != ids.end();
        shown = shown || goes;
        const auto* run = context_.history->find(track->run());
        if (!goes && run != nullptr) left.push_back(*run);
    }
    try {
        if (shown) context_.feed->showStored(left);
    } catch (const engine::Error& error) {
        context_.commands->report(error);
    }
    context_.history->remove(ids);
}

void DeleteQuestion::dismiss() {
    hide();
    runs_.clear();
    emit closed();
}

}  // namespace ui
