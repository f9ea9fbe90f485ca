#include "core/memory.h"

#include <atomic>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/error.h"
#include "kernels/cuda_device.h"
#include "kernels/device.h"
#include "kernels/device_error.h"

namespace engine {
namespace {

thread_local std::shared_ptr<MemoryBooks> current_books;
thread_local MemoryUse current_use = MemoryUse::activations;
thread_local std::shared_ptr<MemoryPool> current_pool;

/// Sizes are rounded to four steps an octave, so that blocks of like tensors can be reused.
std::size_t size_class(std::size_t bytes) {
    if (bytes <= 256) return (bytes + 63) / 64 * 64;
    // No machine has this; rounding it up could wrap around to a size that there is.
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max()) return bytes;
    const std::size_t step = std::bit_floor(bytes) / 4;
    return (bytes + step - 1) / step * step;
}

void* take_memory(std::size_t size, const Device& device) {
    if (device.kind == Device::Kind::cpu) return kernels::cpu::allocate(size);
    const DeviceScope scope(device);
    return kernels::cuda::allocate(size);
}

void give_memory(void* data, const Device& device) {
    if (device.kind == Device::Kind::cpu)
        kernels::cpu::release(data);
    else
        kernels::cuda::release(data);
}

std::size_t memory_of(const Device& device) {
    if (device.kind == Device::Kind::cpu)
        return static_cast<std::size_t>(kernels::cpu::info().memory_bytes);
    return static_cast<std::size_t>(kernels::cuda::device_info(device.index).memory_bytes);
}

/// The blocks of one device that nobody uses, kept for the next of their size.
class Cache {
public:
    explicit Cache(const Device& device) : device_(device), limit_(memory_of(device)) {}
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;
    ~Cache() { release(); }

    void* allocate(std::size_t size) {
        if (void* data = take(size)) return data;
        try {
            return take_from_system(size);
        } catch (const kernels::OutOfMemory&) {
            if (release() > 0) return take_from_system(size);
            throw;
        }
    }
    void give(void* data, std::size_t size) {
        const std::lock_guard lock(mutex_);
        free_[size].push_back(data);
        cached_ += size;
    }
    std::size_t release() {
        const std::lock_guard lock(mutex_);
        for (auto& [size, blocks] : free_) {
            for (void* data : blocks) {
                give_memory(data, device_);
                held_ -= size;
            }
        }
        free_.clear();
        return std::exchange(cached_, 0);
    }
    std::size_t limit() const { return limit_; }
    std::size_t set_limit(std::size_t bytes) { return limit_.exchange(bytes); }

private:
    void* take(std::size_t size) {
        const std::lock_guard lock(mutex_);
        const auto found = free_.find(size);
        if (found == free_.end() || found->second.empty()) return nullptr;
        void* data = found->second.back();
        found->second.pop_back();
        cached_ -= size;
        return data;
    }

    /// Linux promises memory that it does not have and ends the process that touches it. So what
    /// does not fit beside the blocks that there are is refused here, where the caller can still
    /// act on it.
    void* take_from_system(std::size_t size) {
        const std::size_t limit = limit_;
        const std::size_t before = held_.fetch_add(size);
        try {
            if (size > limit || before > limit - size) throw kernels::OutOfMemory(size);
            return take_memory(size, device_);
        } catch (...) {
            held_ -= size;
            throw;
        }
    }

    const Device device_;
    std::mutex mutex_;
    std::map<std::size_t, std::vector<void*>> free_;
    std::size_t cached_ = 0;
    std::atomic<std::size_t> held_{0};  // by all blocks, those kept for reuse included
    std::atomic<std::size_t> limit_;
};

Cache& cpu_cache() {
    static Cache cache(Device{});
    return cache;
}

/// Never destroyed: at the end of the process the driver may be gone before them.
struct CudaCaches {
    std::mutex mutex;
    std::map<int, std::unique_ptr<Cache>> caches;
};
CudaCaches& cuda_caches() {
    static auto* all = new CudaCaches;
    return *all;
}

Cache& cache_of(const Device& device) {
    if (device.kind == Device::Kind::cpu) return cpu_cache();
    CudaCaches& all = cuda_caches();
    const std::lock_guard lock(all.mutex);
    auto& cache = all.caches[device.index];
    if (!cache) cache = std::make_unique<Cache>(device);
    return *cache;
}

}  // namespace

const char* name(MemoryUse use) {
    switch (use) {
        case MemoryUse::weights:
            return "weights";
        case MemoryUse::masters:
            return "masters";
        case MemoryUse::gradients:
            return "gradients";
        case MemoryUse::optimizer:
            return "optimizer";
        case MemoryUse::activations:
            return "activations";
        case MemoryUse::cast_cache:
            return "cast cache";
        case MemoryUse::workspace:
            return "workspace";
    }
    return "?";
}

void MemoryBooks::add(MemoryUse use, std::int64_t bytes) noexcept {
    bytes_[static_cast<std::size_t>(use)].fetch_add(bytes, std::memory_order_relaxed);
    const std::int64_t total = total_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t peak = peak_.load(std::memory_order_relaxed);
    while (total > peak && !peak_.compare_exchange_weak(peak, total, std::memory_order_relaxed)) {
    }
}

void MemoryBooks::move(MemoryUse from, MemoryUse to, std::int64_t bytes) noexcept {
    bytes_[static_cast<std::size_t>(from)].fetch_sub(bytes, std::memory_order_relaxed);
    bytes_[static_cast<std::size_t>(to)].fetch_add(bytes, std::memory_order_relaxed);
}

BooksScope::BooksScope(std::shared_ptr<MemoryBooks> books)
    : before_(std::exchange(current_books, std::move(books))) {}
BooksScope::~BooksScope() { current_books = std::move(before_); }

UseScope::UseScope(MemoryUse use) noexcept : before_(std::exchange(current_use, use)) {}
UseScope::~UseScope() { current_use = before_; }

std::string split(const MemoryBooks& books) {
    std::string out;
    for (int i = 0; i < memory_uses; ++i) {
        const auto use = static_cast<MemoryUse>(i);
        if (books.bytes(use) == 0) continue;
        if (!out.empty()) out += ", ";
        out += std::string(name(use)) + " " + std::to_string(books.bytes(use) >> 20) + " MiB";
    }
    return out;
}

MemoryPool::~MemoryPool() {
    Cache& cache = cache_of(device_);
    for (const auto& [capacity, blocks] : free_) {
        for (void* data : blocks) cache.give(data, capacity);
    }
}

void* MemoryPool::take(std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    auto& free = free_[capacity];
    if (free.empty()) return cache_of(device_).allocate(capacity);
    void* data = free.back();
    free.pop_back();
    return data;
}

void MemoryPool::give(void* data, std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    free_[capacity].push_back(data);
}

PoolScope::PoolScope(std::shared_ptr<MemoryPool> pool)
    : before_(std::exchange(current_pool, std::move(pool))) {}
PoolScope::~PoolScope() { current_pool = std::move(before_); }

Block::Block(std::size_t bytes, const Device& device)
    : data_(nullptr),
      bytes_(bytes),
      capacity_(size_class(bytes)),
      use_(current_use),
      device_(device),
      pool_(current_pool && current_pool->device() == device ? current_pool : nullptr),
      books_(current_books) {
    try {
        data_ = pool_ ? pool_->take(capacity_) : cache_of(device_).allocate(capacity_);
    } catch (const kernels::OutOfMemory& error) {
        throw Error(ErrorCode::memory,
                    msg("Out of memory asking for {} MiB; in use: {}.", error.bytes >> 20,
                        books_ ? split(*books_) : std::string("unknown")),
                    msg("Try a smaller batch."));
    } catch (const kernels::DeviceError& error) {
        throw Error(ErrorCode::device,
                    msg("No memory can be taken on {}: {}.", to_string(device), error.what()));
    }
    if (books_) books_->add(use_, static_cast<std::int64_t>(capacity_));
}

Block::~Block() {
    if (books_) books_->add(use_, -static_cast<std::int64_t>(capacity_));
    if (pool_)
        pool_->give(data_, capacity_);
    else
        cache_of(device_).give(data_, capacity_);
}

void Block::rebook(MemoryUse use) noexcept {
    if (books_ && use != use_) books_->move(use_, use, static_cast<std::int64_t>(capacity_));
    use_ = use;
}

std::size_t memory_limit(const Device& device) { return cache_of(device).limit(); }
std::size_t set_memory_limit(std::size_t bytes, const Device& device) {
    return cache_of(device).set_limit(bytes);
}

std::size_t release_cached_memory() {
    std::size_t bytes = cpu_cache().release();
    CudaCaches& all = cuda_caches();
    const std::lock_guard lock(all.mutex);
    for (auto& [index, cache] : all.caches) bytes += cache->release();
    return bytes;
}

}  // namespace engine
