#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runs/kept_index.h"
#include "runs/run_hold.h"
#include "runs/run_index.h"

namespace engine {

/// A run that this process trains: its hold, and what its folder has and the index lacks. Once
/// another program has taken the run over, neither folder nor index gets anything more.
class OpenRun {
public:
    /// `run` was written to its folder, with this many events.
    OpenRun(std::shared_ptr<RunHold> hold, RunSummary run, Moment made, std::int64_t events = 0)
        : hold_(std::move(hold)),
          summary_(std::move(run)),
          made_(std::move(made)),
          events_(events) {}
    ~OpenRun() {
        if (hold_) hold_->release();  // which the run's session may have, too
    }
    OpenRun(OpenRun&&) = default;
    OpenRun& operator=(OpenRun&&) = default;

    /// Writes the event to the folder and queues it for the index. Throws Error(io), Error(data),
    /// and Error(state) when it finds that another program has taken the run over.
    void append(const Event& event);
    /// Throws Error(data) if the folder was deleted or moved, and Error(state) if another program
    /// has taken the run over.
    void check_folder();

    /// Brings the index up to date.
    void flush(RunIndex& index);
    bool is_flushed() const { return !unentered_ || hold_->is_lost(); }
    /// Its last event was appended.
    bool is_over() const { return over_; }
    /// Lets other programs write the run; to be called after flush().
    void unlock() { hold_->release(); }

private:
    std::shared_ptr<RunHold> hold_;
    RunSummary summary_;
    Moment made_;
    std::int64_t events_;
    std::vector<NumberedEvent> waiting_;
    bool unentered_ = true;
    bool gone_ = false;
    bool over_ = false;
};

/// The runs that a store made, or went on with, and that have not ended. Thread-safe. No call waits
/// for another program but flush().
class OpenRuns {
public:
    void add(const std::string& run, OpenRun open);
    /// Writes the event to the folder of its run and queues it for the index. Throws Error(value)
    /// for a run that is not open, and as OpenRun::append() does.
    void append(const Event& event);
    /// Throws Error(value) for a run that is not open, and Error(data) if its folder was deleted or
    /// moved.
    void check_folder(const std::string& run);
    /// Lets other programs open the run. Does nothing for a run that is not open.
    void unlock(const std::string& run);
    void remove(const std::string& run);
    /// Brings the index up to date and drops the runs that have ended. Throws as KeptIndex::use()
    /// does; what was not written stays queued.
    void flush(KeptIndex& index);

private:
    OpenRun& find(const std::string& run);

    std::mutex mutex_;  ///< held for milliseconds
    std::map<std::string, OpenRun> runs_;
};

const std::string& run_of(const Event& event);
[[noreturn]] void throw_unknown_run(const std::string& run);

}  // namespace engine
