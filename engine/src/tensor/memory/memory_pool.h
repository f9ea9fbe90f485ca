#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tensor/memory/memory.h"

namespace engine {

/// The memory of a captured graph. Blocks that are freed during the capture are reused within the
/// pool only, since every replay writes to the same addresses. Lives as long as the graph or any
/// block from it; then its memory returns to the device's cache. Free memory of the pool is
/// accounted as workspace, in the accounts of the thread that made the pool.
class MemoryPool {
public:
    /// `lender`: the pool of a graph whose work never overlaps with this one's; may be null. What
    /// it has free is borrowed before anything is allocated, and returned when this pool ends. So
    /// that returns to the device what this graph has added, and no more.
    explicit MemoryPool(const Device& device, std::shared_ptr<MemoryPool> lender = nullptr);
    ~MemoryPool();
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;
    const Device& device() const { return device_; }
    void* take(std::size_t capacity);
    void give(void* data, std::size_t capacity);

private:
    void* take_free(std::size_t capacity);
    void* borrow(std::size_t capacity);
    void account(std::int64_t bytes) noexcept;

    Device device_;
    std::shared_ptr<MemoryPool> lender_;
    std::shared_ptr<MemoryAccounting> accounting_;
    std::mutex mutex_;
    std::map<std::size_t, std::vector<void*>> free_;
    std::set<const void*> borrowed_;
};

/// While it lives, blocks that this thread allocates on the pool's device come from the pool.
using PoolScope = OwningScope<&ComputeContext::pool>;

/// That of the thread's scope; null if there is none, or if it is another device's.
std::shared_ptr<MemoryPool> pool_of_thread(const Device& device);

}  // namespace engine
