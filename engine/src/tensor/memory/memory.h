#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/message.h"
#include "engine/base/names.h"
#include "tensor/device.h"

namespace engine {

template <>
inline constexpr std::array enum_names<MemoryUse> = {
    "weights",     "masters", "gradients",  "optimizer",
    "activations", "codes",   "cast cache", "workspace"};
constexpr int memory_uses = std::size(enum_names<MemoryUse>);

/// Bytes by use, of one run. Thread-safe. Every block keeps a reference to its accounts.
class MemoryAccounting {
public:
    void add(MemoryUse use, std::int64_t bytes) noexcept;
    void move(MemoryUse from, MemoryUse to, std::int64_t bytes) noexcept;
    std::int64_t bytes(MemoryUse use) const noexcept {
        return bytes_[static_cast<std::size_t>(use)].load(std::memory_order_relaxed);
    }
    std::int64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }
    std::int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
    /// The most that the run may take in all; larger requests fail as out of memory. 0: only the
    /// limit of the device.
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

/// "weights 12 MiB, masters 3 MiB, ...": the uses that are not 0. "other runs" is what else is in
/// use on the device.
std::string split(const MemoryAccounting& accounting, const Device& device);

/// The message for an allocation of `bytes` that does not fit on the device; accounting may be
/// null.
Message out_of_memory(std::size_t bytes, const MemoryAccounting* accounting, const Device& device);

/// While it lives, blocks allocated by this thread are accounted in its argument (that of one run).
using AccountingScope = OwningScope<&ComputeContext::accounting>;

/// The accounts of this thread's blocks; null: none.
std::shared_ptr<MemoryAccounting> accounting_of_thread();

/// Memory of the device's cache, a block_size(), within the limit of `accounting` (null: none) and
/// not yet accounted there. If there is no room, the thread's caches are reclaimed
/// (tensor/memory/reclaimable_cache.h). Throws kernels::OutOfMemory, kernels::DeviceError.
void* allocate_within(const MemoryAccounting* accounting, std::size_t capacity,
                      const Device& device);

/// Blocks allocated by this thread while the object lives are for this use; the default is
/// activations.
using UseScope = ContextScope<&ComputeContext::use>;

/// A block from the caching allocator, accounted while it lives. 64-byte aligned on the host, 256
/// on a GPU. Throws Error(memory), with the split of the accounts, when the device has no more.
///
/// On a GPU allocation is stream-ordered: a freed block may be reused at once, since all work on a
/// device runs in order on its one compute stream. Other streams must be ordered by events.
class Block {
public:
    Block(std::size_t bytes, const Device& device);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    /// Accounts the block under another use.
    void account_as(MemoryUse use) noexcept;
    void* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    void* data_;
    std::size_t bytes_;
    std::size_t capacity_;
    MemoryUse use_;
    Device device_;
    std::shared_ptr<MemoryPool> pool_;  // null: the device's own cache
    std::shared_ptr<MemoryAccounting> accounting_;
};

/// The most bytes that all blocks of the process on `device` may take together, including cached
/// ones and the libraries' scratch. The memory of the machine or the card, unless another limit was
/// set.
std::size_t memory_limit(const Device& device = {});
/// Returns the previous limit. Existing blocks are not freed.
std::size_t set_memory_limit(std::size_t bytes, const Device& device = {});

/// Bytes of all blocks in use on the device and of its libraries' scratch, of all runs together.
std::size_t memory_in_use(const Device& device = {});

/// Gives blocks of all devices kept for reuse back to the system; returns their bytes.
std::size_t release_cached_memory();

}  // namespace engine
