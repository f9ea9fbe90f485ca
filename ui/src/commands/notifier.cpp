#include "commands/notifier.h"

#include <QGuiApplication>
#include <algorithm>

#include "commands/commands.h"
#include "commands/desktop.h"
#include "commands/run_history.h"
#include "feed/event_feed.h"
#include "feed/run_track.h"
#include "text/event_text.h"
#include "text/format.h"

namespace ui {

using engine::RunState;

namespace {

constexpr int tellAfter = 400;  // ms

/// Returns the share of the planned steps that were made; negative if that is unknown.
double shareOf(const TrackList& tracks) {
    double planned = 0, made = 0;
    for (const auto& track : tracks) {
        if (track->plannedSteps() == 0) return -1;
        const auto rows = static_cast<double>(track->rows());
        const bool over = track->state() == RunState::done || track->state() == RunState::failed;
        planned += over ? rows : std::max(rows, static_cast<double>(track->plannedSteps()));
        made += rows;
    }
    return planned > 0 ? made / planned : -1;
}

bool isStopped(const std::shared_ptr<RunTrack>& track) {
    return track->done() ? track->done()->reason == engine::DoneReason::stopped
                         : track->state() != RunState::failed;
}

}  // namespace

Notifier::Notifier(EventFeed* feed, QueueRunner* queue, RunHistory* history, Commands* commands,
                   Desktop* desktop, QObject* parent)
    : QObject(parent),
      feed_(feed),
      queue_(queue),
      history_(history),
      commands_(commands),
      desktop_(desktop) {
    later_.setSingleShot(true);
    later_.setInterval(tellAfter);
    connect(&later_, &QTimer::timeout, this, &Notifier::notifyEnd);
    connect(feed_, &EventFeed::stateChanged, this, &Notifier::stateChanged);
    connect(feed_, &EventFeed::figuresDue, this, &Notifier::showProgress);
    connect(queue_, &QueueRunner::ended, this, &Notifier::queueEnded);
    connect(desktop_, &Desktop::notSuspended, this, [this](const QString& reason) {
        commands_->report({tr("The machine was not suspended: %1").arg(reason),
                           {},
                           engine::ErrorCode::io,
                           false});
    });
}

void Notifier::stateChanged(RunState state) {
    const bool over = state == RunState::done || state == RunState::failed;
    if (over && ran_) later_.start();
    ran_ = feed_->live() && !over && state != RunState::idle;
    showProgress();
}

void Notifier::showProgress() {
    const double share = ran_ ? shareOf(feed_->liveTracks()) : -1;
    desktop_->setProgress(share);
    emit progressChanged(share);
}

/// The list may not have been read anew yet.
std::int64_t Notifier::groupOf(const std::string& run) const {
    const auto* listed = history_->find(run);
    if (listed != nullptr) return listed->group_number;
    try {
        const auto found = feed_->store()->find(run);
        return found ? found->group_number : 0;
    } catch (const engine::Error&) {
        return 0;  // it is only for the title
    }
}

void Notifier::notifyEnd() {
    const auto& tracks = feed_->liveTracks();
    if (tracks.empty()) return;
    if (std::ranges::any_of(tracks, isStopped)) return;
    const bool failed = std::ranges::any_of(tracks, [](const auto& track) {
        return track->state() == RunState::failed ||
               (track->done() && track->done()->reason == engine::DoneReason::failed);
    });
    if (queue_->isOn() && !failed) return;  // the queue reports its end
    QStringList lines;
    for (const auto& track : tracks) {
        if (track->done()) lines << doneText(*track->done(), track->config());
    }
    lines.removeDuplicates();
    const std::int64_t comparison = tracks.size() > 1 ? groupOf(tracks.front()->run()) : 0;
    const bool group = comparison > 0;
    const QString name = group ? count(comparison) : QString::fromStdString(tracks.front()->run());
    QString title;
    if (name.isEmpty())
        title = tr("A run could not begin");
    else if (failed)
        title = (group ? tr("Comparison %1 failed") : tr("Run %1 failed")).arg(name);
    else
        title = (group ? tr("Comparison %1 has ended") : tr("Run %1 has ended")).arg(name);
    notify(title, lines.join(u'\n'));
}

void Notifier::queueEnded(const engine::EndNotice& notice, int done, int failed) {
    if (notice.state == "stopped") return;
    notify(tr("The queue has ended"), tr("%1 done, %2 failed").arg(done).arg(failed));
    switch (queue_->atEnd()) {
        case QueueRunner::AtEnd::nothing:
            break;
        case QueueRunner::AtEnd::command:
            runCommand(notice);
            break;
        case QueueRunner::AtEnd::suspend:
            desktop_->suspend();
    }
}

/// Runs the command on a thread of its own: it may take as long as it likes, and holds up neither
/// the threads of the pool nor the end of the program.
void Notifier::runCommand(const engine::EndNotice& notice) {
    inBackground(
        this,
        [command = queue_->command().toStdString(), notice] {
            return engine::run_notice_command(command, notice);
        },
        [this](int status) {
            if (status == 0) return;
            commands_->report(
                {tr("The command at the queue's end ended with status %1.").arg(status),
                 {},
                 engine::ErrorCode::io,
                 false});
        },
        onOwnThread());
}

void Notifier::notify(const QString& title, const QString& text) {
    const bool inFront =
        inFront_.value_or(QGuiApplication::applicationState() == Qt::ApplicationActive);
    if (inFront) return;
    desktop_->show(title, text);
    emit told(title, text);
}

}  // namespace ui
