#pragma once

#include <QObject>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "engine/session/compute_thread.h"
#include "engine/session/session.h"
#include "engine/train/resume.h"
#include "feed/run_track.h"

namespace ui {

class PendingEvents;

/// The runs that this window trains: one run, a comparison, a sweep's run or a twin. Owns their
/// sessions. Nothing here waits for a session but its end. GUI thread.
class Experiment final : public QObject {
    Q_OBJECT
public:
    /// The thread on which the sessions take turns. It starts when it is first needed.
    const std::shared_ptr<engine::ComputeThread>& thread();
    /// Where runs are kept; needed before one is opened.
    void setStore(std::shared_ptr<engine::RunStore> store) { store_ = std::move(store); }
    const std::shared_ptr<engine::RunStore>& store() const { return store_; }

    /// Ends the current experiment and makes one session for each of the settings, with this
    /// RunSummary::group; nothing starts yet. Throws engine::Error (settings, io); the old
    /// experiment is gone even then.
    /// `dataOf`: the folder of a run whose data set theirs must be; empty: any.
    void open(const std::vector<engine::RunConfig>& configs, const std::string& group = {},
              const std::filesystem::path& dataOf = {});
    /// Opens two settings in lockstep, the reference first.
    void openTwin(const std::vector<engine::RunConfig>& configs, const std::string& group,
                  const engine::TwinOptions& options);
    /// Ends the current experiment and makes a session for each of these runs that continues it;
    /// nothing starts yet. Several take turns. With `acceptData` they go on although their data
    /// have changed. Throws engine::Error.
    void openResumed(const std::vector<engine::GroupMemberPlan>& members, bool acceptData = false);
    /// Ends the sessions and forgets their runs; no others follow.
    void end();
    void post(engine::Command command);

    /// Twin of the experiment; null if it is none.
    const std::shared_ptr<engine::Twin>& twin() const { return twin_; }
    /// One for each session, in their order.
    const TrackList& tracks() const { return tracks_; }
    bool holds(const RunTrack* track) const;
    bool live() const { return !sessions_.empty(); }
    /// The liveliest state of its runs, as of the last updateState().
    engine::RunState state() const { return state_; }
    /// Its runs have begun and not ended; they may be paused.
    bool isRunning() const {
        using enum engine::RunState;
        return live() && state_ != idle && state_ != done && state_ != failed;
    }
    /// Runs of this window compute; paused ones do not.
    bool isTraining() const { return isRunning() && state_ != engine::RunState::paused; }
    /// How the data of the runs have changed, if all of them have ended with that before they
    /// began.
    engine::DataChanged dataChanged() const;
    /// How far a session that prepares has read its data.
    engine::ReadingShare reading() const;
    /// Progress of the session that examines a step; without one the step is 0.
    engine::ExaminationProgress examination() const;

    /// Whether this is one of the runs and is still to compute a step.
    bool hasNextStep(const RunTrack* track) const;
    /// Passes a copy of the run's next step to done() here, unless `context` is gone by then: after
    /// the step in flight, or at once if the run is paused. The run is not affected.
    void captureNextStep(const RunTrack* track, QObject* context,
                         std::function<void(engine::NextStepCapture)> done);

    /// Takes the sessions' events. Those that show in a frame go to `pending`; states and starts
    /// take effect at once. True if there were any.
    bool drain(PendingEvents& pending);
    void updateState();

signals:
    /// The runs are gone, and others are about to be opened.
    void cleared();
    /// There are other runs, or after a failure none.
    void replaced();
    /// Commands were posted: events will come.
    void posted();
    /// A run has got its number and its record.
    void runStarted();
    void stateChanged(engine::RunState state);

private:
    void clear();
    void openSession(const engine::RunConfig& config, const engine::SessionOptions& options);
    /// Replaces the experiment by the sessions that `make` opens.
    void replace(const std::function<void()>& make);
    void take(std::size_t session, const engine::Event& event, PendingEvents& pending);

    std::shared_ptr<engine::ComputeThread> thread_;
    std::shared_ptr<engine::RunStore> store_;
    std::vector<std::unique_ptr<engine::Session>> sessions_;
    TrackList tracks_;
    std::shared_ptr<engine::Twin> twin_;
    engine::RunState state_ = engine::RunState::idle;
};

/// Combines several states: training before evaluating before preparing; paused if none of those;
/// done if all ended, failed if all failed.
engine::RunState combined(const std::vector<engine::RunState>& states);

}  // namespace ui
