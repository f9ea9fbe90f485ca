#pragma once

#include <string>
#include <vector>

#include "store/run_index.h"

namespace engine {

/// A run that this process trains: its lock, and what its folder has and the index lacks.
class OpenRun {
public:
    /// `run` was written to its folder, with this many events.
    OpenRun(FileLock lock, RunSummary run, Moment made, std::int64_t events = 0)
        : lock_(std::move(lock)),
          summary_(std::move(run)),
          made_(std::move(made)),
          events_(events) {}

    /// Writes the event to the folder and queues it for the index. The end of the run releases its
    /// lock; call it after flush(). Throws Error(io) and Error(data).
    void append(const Event& event);
    /// Throws Error(data) if the folder was deleted or moved.
    void check_folder();

    /// Brings the index up to date.
    void flush(RunIndex& index);
    bool is_flushed() const { return !unentered_; }
    /// Its last event was appended.
    bool is_over() const { return over_; }
    void unlock() { lock_ = {}; }

private:
    FileLock lock_;
    RunSummary summary_;
    Moment made_;
    std::int64_t events_;
    std::vector<NumberedEvent> waiting_;
    bool unentered_ = true;
    bool gone_ = false;
    bool over_ = false;
};

}  // namespace engine
