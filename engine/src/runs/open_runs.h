#pragma once

#include <map>
#include <mutex>
#include <string>

#include "runs/kept_index.h"
#include "runs/open_run.h"

namespace engine {

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
