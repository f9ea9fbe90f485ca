#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/record/event.h"
#include "engine/record/step_record.h"

namespace engine {

/// The process that writes a run, as of the last look.
struct RunProcess {
    bool is_there = false;
    std::string host = {};     ///< another machine or container; empty: this one
    std::int64_t process = 0;  ///< there; 0: unknown
    double silent_s = 0;       ///< seconds since another machine was last heard of
};

/// Follows a run that another process writes, by looking at its folder a few times a second; the
/// folder need not exist yet. Nothing is written there. One thread.
class FollowedRun {
public:
    explicit FollowedRun(std::filesystem::path folder,
                         RecordAccess access = RecordAccess::automatic);
    ~FollowedRun();
    FollowedRun(const FollowedRun&) = delete;
    FollowedRun& operator=(const FollowedRun&) = delete;

    /// Looks at the folder if that is due, and returns the run's events since the last call, oldest
    /// first, with a StateChanged for each change of state(). Problems with the folder are reported
    /// as a RunFailed. If the process died, the last event is a RunWarning, and the state becomes
    /// `failed`.
    std::vector<Event> drain();
    /// Whether the last call left events of a long run for the next one, which need not wait.
    bool is_behind() const;
    /// `idle`: no run is there yet; `preparing`: it has not begun; then `training`, or `paused`,
    /// until it is `done` or `failed`.
    RunState state() const;
    /// Empty until the run has started.
    StepRecordReader record() const;
    /// The run's id, as its folder has it; empty until then.
    std::string run() const;
    const std::filesystem::path& folder() const;
    RunProcess writer() const;
    /// The process that wrote it ended without an end of the run.
    bool interrupted() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace engine
