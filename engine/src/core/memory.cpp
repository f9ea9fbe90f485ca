#include "core/memory.h"

#include <atomic>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "engine/error.h"
#include "kernels/device.h"
#include "kernels/device_error.h"

namespace engine {
namespace {

thread_local std::shared_ptr<MemoryBooks> current_books;
thread_local MemoryUse current_use = MemoryUse::activations;

/// Sizes are rounded to four steps an octave, so that blocks of like tensors can be reused.
std::size_t size_class(std::size_t bytes) {
    if (bytes <= 256) return (bytes + 63) / 64 * 64;
    // No machine has this; rounding it up could wrap around to a size that there is.
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max()) return bytes;
    const std::size_t step = std::bit_floor(bytes) / 4;
    return (bytes + step - 1) / step * step;
}

/// Bytes of all blocks, those kept for reuse included.
std::atomic<std::size_t> held{0};

std::atomic<std::size_t>& limit_in_force() {
    static std::atomic<std::size_t> limit =
        static_cast<std::size_t>(kernels::cpu::info().memory_bytes);
    return limit;
}

/// Linux promises memory that it does not have and ends the process that touches it. So what does
/// not fit beside the blocks that there are is refused here, where the caller can still act on it.
void* take_from_system(std::size_t size) {
    const std::size_t limit = memory_limit();
    const std::size_t before = held.fetch_add(size);
    try {
        if (size > limit || before > limit - size) throw kernels::OutOfMemory(size);
        return kernels::cpu::allocate(size);
    } catch (...) {
        held -= size;
        throw;
    }
}

void give_to_system(void* data, std::size_t size) {
    kernels::cpu::release(data);
    held -= size;
}

class CpuCache {
public:
    void* take(std::size_t size) {
        const std::lock_guard lock(mutex_);
        const auto found = free_.find(size);
        if (found == free_.end() || found->second.empty()) return nullptr;
        void* data = found->second.back();
        found->second.pop_back();
        cached_ -= size;
        return data;
    }
    void give(void* data, std::size_t size) {
        const std::lock_guard lock(mutex_);
        free_[size].push_back(data);
        cached_ += size;
    }
    std::size_t release() {
        const std::lock_guard lock(mutex_);
        for (auto& [size, blocks] : free_) {
            for (void* data : blocks) give_to_system(data, size);
        }
        free_.clear();
        return std::exchange(cached_, 0);
    }
    ~CpuCache() { release(); }

private:
    std::mutex mutex_;
    std::map<std::size_t, std::vector<void*>> free_;
    std::size_t cached_ = 0;
};

CpuCache& cpu_cache() {
    static CpuCache cache;
    return cache;
}

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

void* allocate(std::size_t capacity) {
    if (void* data = cpu_cache().take(capacity)) return data;
    try {
        return take_from_system(capacity);
    } catch (const kernels::OutOfMemory&) {
        if (cpu_cache().release() > 0) return take_from_system(capacity);
        throw;
    }
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

Block::Block(std::size_t bytes, const Device& device)
    : data_(nullptr),
      bytes_(bytes),
      capacity_(size_class(bytes)),
      use_(current_use),
      books_(current_books) {
    if (device.kind != Device::Kind::cpu) {
        throw Error(ErrorCode::device,
                    msg("No memory can be taken on {}: this build has no CUDA backend.",
                        to_string(device)));
    }
    try {
        data_ = allocate(capacity_);
    } catch (const kernels::OutOfMemory& error) {
        throw Error(ErrorCode::memory,
                    msg("Out of memory asking for {} MiB; in use: {}.", error.bytes >> 20,
                        books_ ? split(*books_) : std::string("unknown")),
                    msg("Try a smaller batch."));
    }
    if (books_) books_->add(use_, static_cast<std::int64_t>(capacity_));
}

Block::~Block() {
    if (books_) books_->add(use_, -static_cast<std::int64_t>(capacity_));
    cpu_cache().give(data_, capacity_);
}

void Block::rebook(MemoryUse use) noexcept {
    if (books_ && use != use_) books_->move(use_, use, static_cast<std::int64_t>(capacity_));
    use_ = use;
}

std::size_t memory_limit() { return limit_in_force(); }
std::size_t set_memory_limit(std::size_t bytes) { return limit_in_force().exchange(bytes); }

std::size_t release_cached_memory() { return cpu_cache().release(); }

}  // namespace engine
