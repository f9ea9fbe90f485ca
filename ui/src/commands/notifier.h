#pragma once

#include <QObject>
#include <QTimer>

#include "commands/queue_runner.h"
#include "engine/record/event.h"

namespace ui {

class Commands;
class Desktop;
class EventFeed;
class RunHistory;

/// Tells the user, while the window is not in front, that a run, a comparison or the queue has
/// ended or failed, shows the progress where the desktop shows it, and does what was chosen for the
/// queue's end. A run that the user stopped is not reported. GUI thread.
class Notifier final : public QObject {
    Q_OBJECT
public:
    Notifier(EventFeed* feed, QueueRunner* queue, RunHistory* history, Commands* commands,
             Desktop* desktop, QObject* parent = nullptr);

    /// Whether a window of the program is in front; for tests it can be said.
    void setInFront(bool inFront) { inFront_ = inFront; }
    /// Whether an end that may be told has come: its events follow within a moment.
    bool isWaiting() const { return later_.isActive(); }

signals:
    /// A notification is due.
    void told(const QString& title, const QString& text);
    /// 0 to 1; negative: nothing runs.
    void progressChanged(double share);

private:
    void stateChanged(engine::RunState state);
    void notifyEnd();
    /// RunSummary::group_number.
    std::int64_t groupOf(const std::string& run) const;
    void queueEnded(const engine::EndNotice& notice, int done, int failed);
    void runCommand(const engine::EndNotice& notice);
    void notify(const QString& title, const QString& text);
    void showProgress();

    EventFeed* feed_;
    QueueRunner* queue_;
    RunHistory* history_;
    Commands* commands_;
    Desktop* desktop_;
    QTimer later_;  ///< the end events follow the state
    bool ran_ = false;
    std::optional<bool> inFront_;
};

}  // namespace ui
