#pragma once

#include <memory>
#include <vector>

#include "engine/runs/followed_run.h"
#include "engine/runs/run_store.h"
#include "feed/run_track.h"

namespace ui {

class PendingEvents;

/// Stored runs on screen. Follows those among them that another process is still writing. GUI
/// thread.
class StoredRuns {
public:
    /// Shows these instead of those before; one that is followed already stays as it is. Throws
    /// engine::Error(data), and then nothing changes.
    void show(const std::vector<engine::RunSummary>& runs, const engine::RunStore& store);
    /// Takes all off the screen but those that are still being written.
    void keepFollowed();
    const TrackList& tracks() const { return tracks_; }
    bool follows() const { return !followed_.empty(); }

    /// Changes that other processes made.
    struct News {
        bool any = false;
        bool began = false;  ///< a run has a record now
        bool ended = false;  ///< a run is not followed any more
    };
    /// Takes their events. Those that show in a frame go to `pending`; states and starts take
    /// effect at once.
    News drain(PendingEvents& pending);

private:
    struct Followed {
        std::shared_ptr<RunTrack> track;
        std::shared_ptr<engine::FollowedRun> run;
    };
    Followed follow(const engine::RunSummary& summary) const;

    TrackList tracks_;
    std::vector<Followed> followed_;  ///< of tracks_, while they are written
};

}  // namespace ui
