#pragma once

#include <memory>
#include <vector>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"
#include "kernels/library_fallback.h"
#include "ops/norm/norms.h"
#include "parallel/communicator.h"
#include "tensor/device.h"
#include "tensor/memory/memory.h"

namespace engine {

/// The surroundings of every entry into a run's computation: its device, memory accounting, TF32
/// setting, choice among the libraries' algorithms, record of library fallbacks and number of
/// threads. Made once for a run; one thread at a time.
class RunContext {
public:
    /// `ranks` connects the ranks that compute the run together. Null: this process alone.
    /// `norms`: in place of those of the layers; null: those.
    RunContext(const RunConfig& config, const Device& device,
               std::shared_ptr<Communicator> ranks = nullptr,
               std::unique_ptr<Norms> norms = nullptr);
    RunContext(const RunContext&) = delete;
    RunContext& operator=(const RunContext&) = delete;

    /// The calling thread computes for the run while it lives.
    class Entry {
    public:
        explicit Entry(RunContext& context);
        ~Entry();
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

    private:
        DeviceScope device_;
        const ComputeContext compute_;           // those of the thread before
        const kernels::LibraryContext library_;
    };

    const Device& device() const { return device_; }
    const std::shared_ptr<MemoryAccounting>& accounting() const { return accounting_; }
    Communicator* ranks() const { return ranks_.get(); }
    const ResolvedPrecision& precision() const { return precision_; }
    /// Messages for the user on library fallbacks since the last call.
    std::vector<Message> take_fallbacks();

private:
    Device device_;
    ResolvedPrecision precision_;
    kernels::PlanChoice plans_;
    std::unique_ptr<Norms> norms_;
    int threads_;
    std::shared_ptr<Communicator> ranks_;
    bool synced_norms_;
    std::shared_ptr<MemoryAccounting> accounting_ = std::make_shared<MemoryAccounting>();
    kernels::LibraryFallbacks fallbacks_;
};

/// A message for the user on what the GPU's library does not compute: its shape, type and pass, and
/// what to change or, if the library failed, its message.
Message tell(const kernels::LibraryFallback& fallback);

}  // namespace engine
