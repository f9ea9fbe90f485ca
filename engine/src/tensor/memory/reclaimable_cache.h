#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "tensor/memory/memory.h"

namespace engine {

/// A reclaimable cache: freed on demand where an allocation on the device fails, or where the run
/// that owns it has reached its limit (MemoryAccounting::set_limit).
///
/// It belongs to one thread, and only that thread reclaims it, within its own allocations. So the
/// memory that it frees is never in use on another thread at that moment, and needs no lock. The
/// price: an allocation cannot reclaim the caches of other threads. The runs of a device share a
/// thread (decisions.md#one-compute-thread, D14), so that seldom matters.
class ReclaimableCache {
public:
    /// Belongs to the thread that makes it, in that thread's accounts. `give` frees the cache, and
    /// returns whether it freed anything. It can be called in the middle of any allocation; it must
    /// not throw, or destroy this object.
    ReclaimableCache(const Device& device, std::function<bool()> give);
    /// Waits while another thread reclaims it; so does claim().
    ~ReclaimableCache();
    ReclaimableCache(const ReclaimableCache&) = delete;
    ReclaimableCache& operator=(const ReclaimableCache&) = delete;
    /// Belongs to the calling thread from now on. To be called before that thread touches anything
    /// that `give` touches.
    void claim();

private:
    friend bool reclaim(const Device& device, const MemoryAccounting* of);

    Device device_;
    std::shared_ptr<const MemoryAccounting> accounting_;
    std::function<bool()> give_;
    std::uint64_t number_ = 0;  // in the order of making
    std::thread::id owner_;
    bool asked_ = false;  // at this moment
};

/// Reclaims the calling thread's caches of the device, one after the other, until one has freed
/// something: false if none did. `of`: only those in these accounts. Reclaims none while a step is
/// captured on the device, since memory that a graph gives back may have to be waited for.
bool reclaim(const Device& device, const MemoryAccounting* of = nullptr);

}  // namespace engine
