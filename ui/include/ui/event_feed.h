#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <memory>
#include <vector>

#include "engine/compute_thread.h"
#include "engine/run_store.h"
#include "engine/session.h"

namespace ui {

class RunTrack;

/// The window's only door to training. Owns the sessions of the current experiment; a timer (33 ms)
/// drains their events and reads new rows of their records into the tracks, a bounded time a turn.
/// Nothing here waits for the engine. GUI thread.
class EventFeed final : public QObject {
    Q_OBJECT
public:
    explicit EventFeed(QObject* parent = nullptr);
    /// Stops the sessions after their step in flight.
    ~EventFeed() override;

    /// Where runs are kept; needed before anything else.
    void setStore(std::shared_ptr<engine::RunStore> store);
    const std::shared_ptr<engine::RunStore>& store() const { return store_; }

    /// Ends the current experiment and makes one session for each of the settings; nothing starts
    /// yet. Throws engine::Error (settings, io); the old experiment is then gone all the same.
    void open(const std::vector<engine::RunConfig>& configs);
    void post(engine::Command command);
    /// Lays stored runs over one another; with an experiment running, over that. An empty list goes
    /// back to the experiment alone. Throws engine::Error(data).
    void showStored(const std::vector<engine::RunSummary>& runs);

    /// The runs on screen: the experiment's, then the stored ones chosen.
    std::vector<std::shared_ptr<RunTrack>> tracks() const;
    /// The experiment as a whole: the liveliest state of its runs.
    engine::RunState state() const { return state_; }
    bool live() const { return !sessions_.empty(); }
    /// Seconds since a row was last published.
    double sinceLastRow() const;

signals:
    void storeChanged();
    /// Other runs are on screen.
    void tracksChanged();
    /// Some series have more rows.
    void rowsArrived();
    /// An event of a track that is on screen. Not sent for RunStarted, with which tracksChanged
    /// comes.
    void eventArrived(std::shared_ptr<ui::RunTrack> track, const engine::Event& event);
    void stateChanged(engine::RunState state);
    /// Time to write figures anew: at most four times a second.
    void figuresDue();

private:
    void turn();
    bool drainSessions();
    void readRows();
    void tellProblem(const std::shared_ptr<RunTrack>& track);
    void updateState();
    void name();

    std::shared_ptr<engine::RunStore> store_;
    std::shared_ptr<engine::ComputeThread> thread_;
    std::vector<std::unique_ptr<engine::Session>> sessions_;
    std::vector<std::shared_ptr<RunTrack>> live_;  ///< of sessions_, in their order
    std::vector<std::shared_ptr<RunTrack>> stored_;
    engine::RunState state_ = engine::RunState::idle;
    QTimer timer_;
    QTimer figures_;
    QElapsedTimer sinceRow_;
    bool behind_ = false;
};

/// The liveliest of several states: training before evaluating before preparing, paused only if
/// none of those; done if all ended, failed if all of them failed.
engine::RunState combined(const std::vector<engine::RunState>& states);

}  // namespace ui
