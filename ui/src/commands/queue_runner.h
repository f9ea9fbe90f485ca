#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <vector>

#include "engine/record/event.h"
#include "engine/runs/cluster.h"
#include "engine/runs/end_notice.h"
#include "engine/runs/run_queue.h"
#include "engine/runs/run_store.h"

namespace ui {

class ClusterJobs;
class Commands;
class EventFeed;
class RunTrack;

/// The queue of the run store in the window: shows its runs and trains them one after another, the
/// runs of a queued comparison together, or gives them to a cluster. GUI thread.
class QueueRunner final : public QObject {
    Q_OBJECT
public:
    QueueRunner(EventFeed* feed, Commands* commands, QObject* parent = nullptr);
    ~QueueRunner() override;

    /// The runs in their order; empty where the queue cannot be read, which is reported once.
    std::vector<engine::QueuedRun> runs();
    /// Who trains what is added from now on.
    void setWhere(engine::QueuePlace where) { where_ = where; }
    engine::QueuePlace where() const { return where_; }
    /// Each reports what goes wrong. add() is for the place of where().
    void add(const std::vector<engine::QueueEntry>& entries);
    void remove(const std::vector<std::int64_t>& ids);
    /// Before another run; 0: to the end.
    void move(std::int64_t id, std::int64_t before);
    void runAgain(std::int64_t id);
    /// Who trains these runs, none of which is trained yet.
    void moveTo(engine::QueuePlace where, const std::vector<std::int64_t>& ids);
    /// Cancels the jobs of these runs on the cluster.
    void cancelJobs(const std::vector<std::int64_t>& ids);

    /// Trains what waits, one run after another, and submits what waits for a cluster; with a
    /// RunSummary::group of a sweep only its runs. Jobs go on without the window, and are followed
    /// by the next one.
    void start(const std::string& group = {});
    /// Whether runs of this sweep wait or have waited here, so that start() goes on with it.
    bool hasSweep(const std::string& group);
    /// Enters the runs of a sweep that is on another machine's queue, say, or was removed from it.
    void restoreSweep(const std::vector<engine::RunSummary>& runs);
    /// Lets the run in flight continue, but starts no other.
    void pause();
    bool isOn() const { return on_; }

    /// Action when all that waited has ended, unless the user stopped it.
    enum class AtEnd { nothing, command, suspend };
    /// The command is kept for this session alone: no file may hold one.
    void setAtEnd(AtEnd what, const QString& command = {}) {
        atEnd_ = what;
        command_ = command;
    }
    AtEnd atEnd() const { return atEnd_; }
    const QString& command() const { return command_; }

signals:
    void changed();
    /// Nothing is left to train, or the queue was stopped.
    void ended(const engine::EndNotice& notice, int done, int failed);

private:
    /// Calls f(queue), if there is one, and reports its errors.
    template <typename F>
    void use(F&& f);
    void openQueue();
    /// Submits what waits for the cluster. Whether jobs live, or are being submitted.
    bool haveClusterWork();
    void takeChanges(const std::vector<engine::JobChange>& changes);
    /// A run that was taken, and its track once it trains.
    struct Flight {
        engine::RunQueue::Taken taken;
        std::shared_ptr<RunTrack> track = {};
    };
    void next();
    /// The next run, or all runs of the next comparison.
    void takeNext();
    /// Begins the runs in flight that have not been begun before. False: that failed.
    bool beginNew();
    /// Goes on with those that were begun, and have not ended, before the queue was interrupted.
    void resumeEarlier(const std::vector<engine::RunSummary>& earlier);
    /// Whether the runs that were taken are trained by now.
    void begun(bool success);
    /// The run that was begun with these settings before the queue was interrupted.
    std::optional<engine::RunSummary> earlierTry(const engine::QueuedRun& queued);
    void noteRuns();
    void take(const std::shared_ptr<RunTrack>& track, const engine::Event& event);
    void stateChanged();
    /// Finishes a run in flight. It waits again, unless it ended as planned or by an error.
    void finish(std::size_t flight, engine::QueueState state, const std::string& run);
    void turnOff();
    void announceEnd(const std::string& state);

    EventFeed* feed_;
    Commands* commands_;
    ClusterJobs* jobs_;
    std::unique_ptr<engine::RunQueue> queue_;
    engine::QueuePlace where_ = engine::QueuePlace::here;
    std::vector<Flight> flights_;
    std::string only_;     ///< the sweep whose runs are trained; empty: all
    bool ending_ = false;  ///< a run in flight was stopped: no other one begins
    bool on_ = false;
    AtEnd atEnd_ = AtEnd::nothing;
    QString command_;
    engine::EndNotice ended_;  ///< since the queue was started
    int done_ = 0, failed_ = 0;
    bool told_ = false;  ///< that the queue cannot be used
};

}  // namespace ui
