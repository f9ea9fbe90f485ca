#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "engine/base/message.h"
#include "io/file/file_lock.h"
#include "io/file/lease.h"

namespace engine {

/// The right to write a run, which one program has at a time: a lock, which the system frees with
/// the process, and a lease, which holds between machines, too. Thread-safe.
class RunHold {
public:
    /// Null if another program holds the run, which `holder` then describes. Throws Error(io).
    static std::shared_ptr<RunHold> try_take(const std::filesystem::path& folder,
                                             LeaseSighting& seen, LeaseState& holder);
    /// Like Lease::check().
    void check() { lease_->check(); }
    bool is_lost() const { return lease_->is_lost(); }
    /// Other programs see this one in it, and address requests to it (runs/outside_request.h).
    Lease& lease() { return *lease_; }
    /// Lets other programs write the run.
    void release();

private:
    RunHold(FileLock lock, std::unique_ptr<Lease> lease)
        : lock_(std::move(lock)), lease_(std::move(lease)) {}

    std::mutex mutex_;  ///< guards the next one
    FileLock lock_;
    const std::unique_ptr<Lease> lease_;
};

/// Which program writes a run now, if one does.
LeaseState holder_of(const std::filesystem::path& folder, LeaseSighting& seen);
/// Which program writes a run, at the first look: a lease of another machine then counts as held.
LeaseState holder_of(const std::filesystem::path& folder);

/// Throws Error(state) for a run that `holder` writes. `then`: what it keeps the person from, as in
/// "Stop it before you resume it."
[[noreturn]] void throw_held(const std::filesystem::path& folder, const LeaseState& holder,
                             const Message& then);

}  // namespace engine
