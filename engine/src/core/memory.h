#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/device.h"
#include "engine/message.h"

namespace engine {

/// What a block of memory is for (D8).
enum class MemoryUse { weights, masters, gradients, optimizer, activations, cast_cache, workspace };
constexpr int memory_uses = 7;
const char* name(MemoryUse use);

/// Bytes booked by use, for one run. Thread-safe; every block knows the books it stands in.
class MemoryBooks {
public:
    void add(MemoryUse use, std::int64_t bytes) noexcept;
    void move(MemoryUse from, MemoryUse to, std::int64_t bytes) noexcept;
    std::int64_t bytes(MemoryUse use) const noexcept {
        return bytes_[static_cast<std::size_t>(use)].load(std::memory_order_relaxed);
    }
    std::int64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }
    std::int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
    /// What the run may take in all; blocks beyond it are refused as out of memory. 0: no limit but
    /// the device's.
    void set_limit(std::int64_t bytes) noexcept { limit_ = bytes; }
    bool has_room(std::size_t bytes) const noexcept {
        return limit_ == 0 || total() + static_cast<std::int64_t>(bytes) <= limit_;
    }

private:
    std::array<std::atomic<std::int64_t>, memory_uses> bytes_{};
    std::atomic<std::int64_t> total_{0};
    std::atomic<std::int64_t> peak_{0};
    std::atomic<std::int64_t> limit_{0};
};

/// "weights 12 MiB, masters 3 MiB, ...", of the pages that hold something; "other runs" is what
/// else is in use on the device.
std::string split(const MemoryBooks& books, const Device& device);

/// What is said when there is no room for so much more on the device; books may be null.
Message out_of_memory(std::size_t bytes, const MemoryBooks* books, const Device& device);

/// Blocks allocated by this thread while the object lives stand in `books` (a run's own).
class BooksScope {
public:
    explicit BooksScope(std::shared_ptr<MemoryBooks> books);
    ~BooksScope();
    BooksScope(const BooksScope&) = delete;
    BooksScope& operator=(const BooksScope&) = delete;

private:
    std::shared_ptr<MemoryBooks> before_;
};

/// Blocks allocated by this thread while the object lives are for `use`; the default is
/// activations.
class UseScope {
public:
    explicit UseScope(MemoryUse use) noexcept;
    ~UseScope();
    UseScope(const UseScope&) = delete;
    UseScope& operator=(const UseScope&) = delete;

private:
    MemoryUse before_;
};

/// Memory that a recorded graph keeps to itself: what the recording takes and gives back is reused
/// within it alone, since every replay writes to the same places. Lives as long as the graph, or a
/// block from it; then the device's cache has it back. What no block holds is booked as workspace,
/// in the books of the thread that made the pool.
class MemoryPool {
public:
    explicit MemoryPool(const Device& device);
    ~MemoryPool();
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;
    const Device& device() const { return device_; }
    void* take(std::size_t capacity);
    void give(void* data, std::size_t capacity);

private:
    void book(std::int64_t bytes) noexcept;

    Device device_;
    std::shared_ptr<MemoryBooks> books_;
    std::mutex mutex_;
    std::map<std::size_t, std::vector<void*>> free_;
};

/// Blocks that this thread takes on the pool's device while the object lives come from the pool.
class PoolScope {
public:
    explicit PoolScope(std::shared_ptr<MemoryPool> pool);
    ~PoolScope();
    PoolScope(const PoolScope&) = delete;
    PoolScope& operator=(const PoolScope&) = delete;

private:
    std::shared_ptr<MemoryPool> before_;
};

/// A block from the caching allocator, booked while it lives. 64-byte aligned on the host, 256 on
/// a GPU. Throws Error(memory) with the split of the books when the device has no more.
///
/// On a GPU it is stream-ordered: a block given back may be taken again at once, since all work on
/// a device runs in order on its one compute stream. Other streams must be held back by events.
class Block {
public:
    Block(std::size_t bytes, const Device& device);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    /// Moves it to another page of its books.
    void rebook(MemoryUse use) noexcept;
    void* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    void* data_;
    std::size_t bytes_;
    std::size_t capacity_;
    MemoryUse use_;
    Device device_;
    std::shared_ptr<MemoryPool> pool_;  // null: the device's own cache
    std::shared_ptr<MemoryBooks> books_;
};

/// Bytes that all blocks of the process on `device` may take together, those kept for reuse and the
/// libraries' scratch included: the machine's or the card's memory unless another limit was set.
std::size_t memory_limit(const Device& device = {});
/// Returns the former limit. Blocks that there are stay.
std::size_t set_memory_limit(std::size_t bytes, const Device& device = {});

/// Bytes of all blocks in use on the device and of its libraries' scratch, of all runs together.
std::size_t memory_in_use(const Device& device = {});

/// Gives blocks of all devices kept for reuse back to the system; returns their bytes.
std::size_t release_cached_memory();

}  // namespace engine
