#pragma once

#include <memory>
#include <vector>

#include "core/device.h"
#include "core/memory.h"
#include "engine/message.h"
#include "engine/run_config.h"
#include "kernels/library_fallback.h"
#include "norm/composed_norm.h"
#include "norm/synced_norm.h"

namespace engine {

/// What every entry into a run's computation needs: its device, memory accounting, TF32 setting,
/// record of library fallbacks and number of threads. Made once for a run; one thread at a time.
class RunContext {
public:
    /// `ranks`: those that compute the run together; null: this process alone.
    RunContext(const RunConfig& config, const Device& device,
               std::shared_ptr<Communicator> ranks = nullptr);
    RunContext(const RunContext&) = delete;
    RunContext& operator=(const RunContext&) = delete;

    /// The calling thread computes for the run while it lives.
    class Entry {
    public:
        explicit Entry(RunContext& context);
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

    private:
        DeviceScope device_;
        BooksScope books_;
        Tf32Scope tf32_;
        ComposedNorms norms_;
        SyncedNorms synced_;
        kernels::LibraryFallbackScope fallbacks_;
    };

    const Device& device() const { return device_; }
    const std::shared_ptr<MemoryBooks>& books() const { return books_; }
    Communicator* ranks() const { return ranks_.get(); }
    const ResolvedPrecision& precision() const { return precision_; }
    /// What the user should know of library fallbacks since the last call.
    std::vector<Message> take_fallbacks();

private:
    Device device_;
    ResolvedPrecision precision_;
    TeachConfig teach_;
    int threads_;
    std::shared_ptr<Communicator> ranks_;
    bool synced_norms_;
    std::shared_ptr<MemoryBooks> books_ = std::make_shared<MemoryBooks>();
    kernels::LibraryFallbacks fallbacks_;
};

}  // namespace engine
