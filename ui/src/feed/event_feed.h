#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "feed/background_task.h"
#include "feed/experiment.h"
#include "feed/pending_events.h"
#include "feed/stored_runs.h"

namespace ui {

/// Shows runs in frames, at most four a second: those of the experiment, and stored ones. A frame
/// reads the new rows of all records, delivers the events of these rows, measures speeds, and then
/// tells every panel to draw. Between frames nothing that panels read changes, except the state.
/// Nothing here waits for the engine. GUI thread.
class EventFeed final : public QObject {
    Q_OBJECT
public:
    explicit EventFeed(QObject* parent = nullptr);
    /// Stops the sessions after their step in flight.
    ~EventFeed() override;

    /// Where runs are kept; needed before anything else.
    void setStore(std::shared_ptr<engine::RunStore> store);
    const std::shared_ptr<engine::RunStore>& store() const { return experiment_.store(); }
    /// With a painter a frame begins when `canBegin` allows it, and its figures change when
    /// finishFrame() is called. Without one frames begin on time and finish at once.
    void setPainter(std::function<bool()> canBegin) { canBegin_ = std::move(canBegin); }
    /// To be called when the plots of the frame are painted; harmless if none has begun.
    void finishFrame();

    Experiment& experiment() { return experiment_; }
    /// Runs work on the compute thread between the steps of the experiment, which waits for it.
    Executor betweenSteps() {
        return [this](std::function<void()> work) {
            experiment_.thread()->run_once(std::move(work));
        };
    }

    /// Overlays stored runs, also on a running experiment. An empty list returns to the experiment
    /// alone. A run that another process is writing is followed while it is on screen. Throws
    /// engine::Error(data).
    void showStored(const std::vector<engine::RunSummary>& runs);
    /// Reads all rows of the runs on screen now, however long that takes: for a report.
    void readAll();
    /// Takes a run of the experiment off the screen, or puts it back; it trains on meanwhile.
    void setHidden(const std::string& run, bool hidden);

    /// The runs on screen: the experiment's that are not hidden, then the stored ones chosen.
    TrackList tracks() const;
    /// The runs of the experiment, hidden ones included.
    const TrackList& liveTracks() const { return experiment_.tracks(); }
    /// The runs that the status line describes: the experiment's, or without one those that other
    /// processes write.
    TrackList statusTracks() const;
    /// The experiment as a whole: the liveliest state of its runs.
    engine::RunState state() const { return experiment_.state(); }
    bool live() const { return experiment_.live(); }
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
    /// The hidden ones too.
    TrackList everyTrack() const;
    void leaveScreen();
    void showTracks();
    void dropEventsOffScreen();
    void turn();
    bool drainStored();
    /// Rows of a run on screen, stored ones too, were published and not read yet.
    bool unread() const;
    bool frameIsDue() const;
    void beginFrame();
    bool deliverEvents();
    bool readRows(bool all);
    void notePublished();
    void reportError(const std::shared_ptr<RunTrack>& track);

    Experiment experiment_;
    StoredRuns stored_;
    std::set<std::string> hidden_;  ///< runs of the experiment
    PendingEvents pending_;
    std::function<bool()> canBegin_;
    QTimer timer_;
    QElapsedTimer sinceRow_;
    QElapsedTimer sinceFrame_;
    std::int64_t published_ = 0;
    bool behind_ = false;   ///< rows of stored runs are left to read
    bool drawing_ = false;  ///< a frame has begun and its figures have not changed yet
};

}  // namespace ui
