#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/runs/followed_run.h"
#include "engine/runs/run_store.h"
#include "engine/session/compute_thread.h"
#include "engine/session/session.h"
#include "engine/train/resume.h"

namespace ui {

class RunTrack;

/// The window's only interface to training. Owns the sessions of the current experiment and shows
/// it in frames, at most four a second. A frame reads the new rows of all records, delivers the
/// events of these rows, measures speeds, and then tells every panel to draw. Between frames
/// nothing that panels read changes, except the state. Nothing here waits for the engine. GUI
/// thread.
class EventFeed final : public QObject {
    Q_OBJECT
public:
    explicit EventFeed(QObject* parent = nullptr);
    /// Stops the sessions after their step in flight.
    ~EventFeed() override;

    /// Where runs are kept; needed before anything else.
    void setStore(std::shared_ptr<engine::RunStore> store);
    const std::shared_ptr<engine::RunStore>& store() const { return store_; }
    /// With a painter a frame begins when `canBegin` allows it, and its figures change when
    /// finishFrame() is called. Without one frames begin on time and finish at once.
    void setPainter(std::function<bool()> canBegin) { canBegin_ = std::move(canBegin); }
    /// To be called when the plots of the frame are painted; harmless if none has begun.
    void finishFrame();

    /// Ends the current experiment and makes one session for each of the settings, with this
    /// RunSummary::group; nothing starts yet. Throws engine::Error (settings, io); the old
    /// experiment is gone even then.
    /// `dataOf`: the folder of a run whose data set theirs must be; empty: any.
    void open(const std::vector<engine::RunConfig>& configs, const std::string& group = {},
              const std::filesystem::path& dataOf = {});
    /// Opens two settings in lockstep, the reference first.
    void openTwin(const std::vector<engine::RunConfig>& configs, const std::string& group,
                  const engine::TwinOptions& options);
    /// Twin of the experiment; null if it is none.
    const std::shared_ptr<engine::Twin>& twin() const { return twin_; }
    /// Ends the current experiment and makes a session for each of these runs that continues it;
    /// nothing starts yet. Several take turns. With `acceptData` they go on although their data have
    /// changed. Throws engine::Error.
    void openResumed(const std::vector<engine::GroupMemberPlan>& members, bool acceptData = false);
    /// How the data of the runs of the experiment have changed, if all of them have ended with that
    /// before they began.
    engine::DataChanged dataChanged() const;
    void post(engine::Command command);
    /// Runs work() on the compute thread between the steps of the experiment, which waits for it,
    /// and then done() here, unless `context` is gone by then. work() must not throw.
    void compute(QObject* context, std::function<void()> work, std::function<void()> done);
    /// Whether this is a run of the experiment that is still to compute a step.
    bool hasNextStep(const RunTrack* track) const;
    /// Passes a copy of the run's next step to done() here, unless `context` is gone by then: after
    /// the step in flight, or at once if the run is paused. The run is not affected.
    void captureNextStep(const RunTrack* track, QObject* context,
                         std::function<void(engine::NextStepCapture)> done);
    /// Jobs of compute() that have not ended.
    int computing() const { return static_cast<int>(jobs_.size()); }
    /// Overlays stored runs, also on a running experiment. An empty list returns to the experiment
    /// alone. A run that another process is writing is followed while it is on screen. Throws
    /// engine::Error(data).
    void showStored(const std::vector<engine::RunSummary>& runs);

    /// Reads all rows of the runs on screen now, however long that takes: for a report.
    void readAll();

    /// Takes a run of the experiment off the screen, or puts it back; it trains on meanwhile.
    void setHidden(const std::string& run, bool hidden);
    /// The runs on screen: the experiment's that are not hidden, then the stored ones chosen.
    std::vector<std::shared_ptr<RunTrack>> tracks() const;
    /// The runs of the experiment, hidden ones included.
    const std::vector<std::shared_ptr<RunTrack>>& liveTracks() const { return live_; }
    /// The runs that the status line describes: the experiment's, or without one those that other
    /// processes write.
    std::vector<std::shared_ptr<RunTrack>> statusTracks() const;
    /// The experiment as a whole: the liveliest state of its runs.
    engine::RunState state() const { return state_; }
    bool live() const { return !sessions_.empty(); }
    /// Runs of this window compute; paused ones do not.
    bool isTraining() const {
        using enum engine::RunState;
        return live() && state_ != idle && state_ != paused && state_ != done && state_ != failed;
    }
    /// How far a session that prepares has read its data.
    engine::ReadingShare reading() const;
    /// Progress of the session that examines a step; without one the step is 0.
    engine::ExaminationProgress examination() const;
    /// Seconds since a row was last published.
    double sinceLastRow() const;

signals:
    void storeChanged();
    /// Other runs are on screen.
    void tracksChanged();
    /// Some series have more rows: a frame has begun.
    void rowsArrived();
    /// An event of a track that is on screen, once its row is. Not sent for RunStarted, with which
    /// tracksChanged comes.
    void eventArrived(std::shared_ptr<ui::RunTrack> track, const engine::Event& event);
    void stateChanged(engine::RunState state);
    /// Another process has ended a run that was followed.
    void followedEnded();
    /// Figures are to be refreshed, with the frame's plots: at most four times a second.
    void figuresDue();

private:
    struct Pending {
        std::shared_ptr<RunTrack> track;
        engine::Event event;
    };
    void clear();
    void openSession(const engine::RunConfig& config, const engine::SessionOptions& options);
    /// Replaces the experiment by the sessions that `make` opens.
    void replaceExperiment(const std::function<void()>& make);
    /// A run on screen that another process writes.
    struct Followed {
        std::shared_ptr<RunTrack> track;
        std::unique_ptr<engine::FollowedRun> run;
    };
    std::shared_ptr<RunTrack> follow(const engine::RunSummary& summary);
    bool drainFollowed();
    void takeFollowed(const Followed& followed, engine::Event event);
    void keepFollowed();
    bool isOnScreen(const std::shared_ptr<RunTrack>& track) const;
    /// The hidden ones too.
    std::vector<std::shared_ptr<RunTrack>> everyTrack() const;
    void turn();
    bool drainSessions();
    void takeEvent(std::size_t session, const engine::Event& event);
    /// Rows of a run on screen, stored ones too, were published and not read yet.
    bool unread() const;
    bool frameIsDue() const;
    void beginFrame();
    bool deliverEvents();
    bool readRows(bool all);
    void notePublished();
    void reportError(const std::shared_ptr<RunTrack>& track);
    void updateState();
    void name();

    class Job;
    engine::ComputeThread& thread();

    std::shared_ptr<engine::RunStore> store_;
    std::shared_ptr<engine::ComputeThread> thread_;
    std::vector<std::shared_ptr<Job>> jobs_;
    std::vector<std::unique_ptr<engine::Session>> sessions_;
    std::vector<std::shared_ptr<RunTrack>> live_;  ///< of sessions_, in their order
    std::shared_ptr<engine::Twin> twin_;
    std::vector<std::shared_ptr<RunTrack>> stored_;
    std::vector<Followed> followed_;  ///< of stored_, while they are written
    std::set<std::string> hidden_;    ///< of live_, by id
    std::deque<Pending> pending_;     ///< whose rows are not on screen yet, in order
    engine::RunState state_ = engine::RunState::idle;
    std::function<bool()> canBegin_;
    QTimer timer_;
    QElapsedTimer sinceRow_;
    QElapsedTimer sinceFrame_;
    std::int64_t published_ = 0;
    bool behind_ = false;   ///< rows of stored runs are left to read
    bool drawing_ = false;  ///< a frame has begun and its figures have not changed yet
};

/// Combines several states: training before evaluating before preparing; paused if none of those;
/// done if all ended, failed if all failed.
engine::RunState combined(const std::vector<engine::RunState>& states);

}  // namespace ui
