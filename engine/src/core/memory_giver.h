#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "core/memory.h"

namespace engine {

/// Somebody who holds memory of a device that can be done without. Asked to give it back where an
/// allocation on the device finds no room, or where the giver's own run has reached its limit
/// (MemoryAccounting::set_limit).
///
/// A giver belongs to one thread, and only that thread asks it, within its own allocations. So what
/// a giver drops is never in use on another thread at that moment, and needs no lock. The price: a
/// thread that finds no room leaves what the givers of other threads hold. The runs of a device
/// share a thread (decisions.md#one-compute-thread, D14), so that seldom matters.
class MemoryGiver {
public:
    /// Belongs to the thread that makes it, in that thread's accounts. `give` frees what can be
    /// done without, and says whether there was anything. It can be called in the middle of any
    /// allocation; it must not throw, or destroy the giver.
    MemoryGiver(const Device& device, std::function<bool()> give);
    /// Waits while another thread asks it; so does claim().
    ~MemoryGiver();
    MemoryGiver(const MemoryGiver&) = delete;
    MemoryGiver& operator=(const MemoryGiver&) = delete;
    /// Belongs to the calling thread from now on. To be called before that thread touches anything
    /// that `give` touches.
    void claim();

private:
    friend bool ask_for_memory(const Device& device, const MemoryAccounting* of);

    Device device_;
    std::shared_ptr<const MemoryAccounting> accounting_;
    std::function<bool()> give_;
    std::uint64_t number_ = 0;  // in the order of making
    std::thread::id owner_;
    bool asked_ = false;  // at this moment
};

/// Asks the calling thread's givers of the device, one after the other, until one has given
/// something: false if none did. `of`: only those in these accounts. Asks nobody while a step is
/// captured on the device, since memory that a graph gives back may have to be waited for.
bool ask_for_memory(const Device& device, const MemoryAccounting* of = nullptr);

}  // namespace engine
