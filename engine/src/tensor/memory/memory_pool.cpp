#include "tensor/memory/memory_pool.h"

#include <utility>

#include "tensor/memory/memory_cache.h"

namespace engine {

MemoryPool::MemoryPool(const Device& device, std::shared_ptr<MemoryPool> lender)
    : device_(device), lender_(std::move(lender)), accounting_(accounting_of_thread()) {}

MemoryPool::~MemoryPool() {
    MemoryCache& cache = memory_cache(device_);
    for (const auto& [capacity, blocks] : free_) {
        for (void* data : blocks) {
            account(-static_cast<std::int64_t>(capacity));
            if (borrowed_.contains(data))
                lender_->give(data, capacity);
            else
                cache.give(data, capacity);
        }
    }
}

void MemoryPool::account(std::int64_t bytes) noexcept {
    if (accounting_) accounting_->add(MemoryUse::workspace, bytes);
}

/// Allocates without the lock: a cache that is reclaimed may return blocks to this pool.
void* MemoryPool::take(std::size_t capacity) {
    if (void* data = take_free(capacity)) return data;
    if (void* data = borrow(capacity)) return data;
    return allocate_within(accounting_.get(), capacity, device_);
}

/// Null if no block of this size is free.
void* MemoryPool::take_free(std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& free = free_[capacity];
    if (free.empty()) return nullptr;
    void* data = free.back();
    free.pop_back();
    account(-static_cast<std::int64_t>(capacity));
    return data;
}

void* MemoryPool::borrow(std::size_t capacity) {
    void* data = lender_ ? lender_->take_free(capacity) : nullptr;
    if (!data) return nullptr;
    const std::lock_guard lock(mutex_);
    borrowed_.insert(data);
    return data;
}

void MemoryPool::give(void* data, std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    free_[capacity].push_back(data);
    account(static_cast<std::int64_t>(capacity));
}

std::shared_ptr<MemoryPool> pool_of_thread(const Device& device) {
    const auto* const pool = ComputeContext::of_thread().pool;
    return pool && *pool && (*pool)->device() == device ? *pool : nullptr;
}

}  // namespace engine
