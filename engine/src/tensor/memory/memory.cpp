#include "tensor/memory/memory.h"

#include <sanitizer/asan_interface.h>

#include <utility>

#include "engine/base/error.h"
#include "kernels/device_error.h"
#include "tensor/memory/memory_cache.h"
#include "tensor/memory/reclaimable_cache.h"
#include "tensor/memory/memory_pool.h"

namespace engine {
namespace {

/// Tells the address sanitizer whether the bytes of a block beyond those asked for may be used.
/// Blocks of the host lie one beside the other.
void forbid_rest(void* data, std::size_t bytes, std::size_t capacity, const Device& device,
                 [[maybe_unused]] bool forbidden) noexcept {
    if (device.kind != Device::Kind::cpu || capacity == bytes) return;
    [[maybe_unused]] char* const rest = static_cast<char*>(data) + bytes;
    if (forbidden)
        ASAN_POISON_MEMORY_REGION(rest, capacity - bytes);
    else
        ASAN_UNPOISON_MEMORY_REGION(rest, capacity - bytes);
}

}  // namespace

void MemoryAccounting::add(MemoryUse use, std::int64_t bytes) noexcept {
    bytes_[static_cast<std::size_t>(use)].fetch_add(bytes, std::memory_order_relaxed);
    const std::int64_t total = total_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t peak = peak_.load(std::memory_order_relaxed);
    while (total > peak && !peak_.compare_exchange_weak(peak, total, std::memory_order_relaxed)) {
    }
}

void MemoryAccounting::move(MemoryUse from, MemoryUse to, std::int64_t bytes) noexcept {
    bytes_[static_cast<std::size_t>(from)].fetch_sub(bytes, std::memory_order_relaxed);
    bytes_[static_cast<std::size_t>(to)].fetch_add(bytes, std::memory_order_relaxed);
}

std::shared_ptr<MemoryAccounting> accounting_of_thread() {
    const auto* const accounting = ComputeContext::of_thread().accounting;
    return accounting ? *accounting : nullptr;
}

void* allocate_within(const MemoryAccounting* accounting, std::size_t capacity,
                      const Device& device) {
    while (accounting != nullptr && !accounting->has_room(capacity)) {
        if (!reclaim(device, accounting)) throw kernels::OutOfMemory(capacity);
    }
    return memory_cache(device).allocate(capacity);
}

std::string split(const MemoryAccounting& accounting, const Device& device) {
    std::string out;
    const auto list = [&](const char* what, std::int64_t bytes) {
        out += (out.empty() ? "" : ", ") + std::string(what) + " " + std::to_string(bytes >> 20) +
               " MiB";
    };
    for (int i = 0; i < memory_uses; ++i) {
        const auto use = static_cast<MemoryUse>(i);
        if (accounting.bytes(use) != 0) list(name(use), accounting.bytes(use));
    }
    const std::int64_t others =
        static_cast<std::int64_t>(memory_in_use(device)) - accounting.total();
    if (others >= std::int64_t{1} << 20) list("other runs", others);
    return out;
}

Message out_of_memory(std::size_t bytes, const MemoryAccounting* accounting, const Device& device) {
    return msg("Out of memory asking for {} MiB; in use: {}.", bytes >> 20,
               accounting ? split(*accounting, device) : std::string("unknown"));
}

Block::Block(std::size_t bytes, const Device& device)
    : data_(nullptr),
      bytes_(bytes),
      capacity_(block_size(bytes, device)),
      use_(ComputeContext::of_thread().use),
      device_(device),
      pool_(pool_of_thread(device)),
      accounting_(accounting_of_thread()) {
    try {
        data_ =
            pool_ ? pool_->take(capacity_) : allocate_within(accounting_.get(), capacity_, device_);
    } catch (const kernels::OutOfMemory& error) {
        throw Error(ErrorCode::memory, out_of_memory(error.bytes, accounting_.get(), device_),
                    msg("Try a smaller batch."));
    } catch (const kernels::DeviceError& error) {
        throw Error(ErrorCode::device,
                    msg("Cannot allocate memory on {}: {}.", to_string(device), error.what()));
    }
    if (accounting_) accounting_->add(use_, static_cast<std::int64_t>(capacity_));
    forbid_rest(data_, bytes_, capacity_, device_, true);
}

Block::~Block() {
    forbid_rest(data_, bytes_, capacity_, device_, false);
    if (accounting_) accounting_->add(use_, -static_cast<std::int64_t>(capacity_));
    if (pool_)
        pool_->give(data_, capacity_);
    else
        memory_cache(device_).give(data_, capacity_);
}

void Block::account_as(MemoryUse use) noexcept {
    if (accounting_ && use != use_)
        accounting_->move(use_, use, static_cast<std::int64_t>(capacity_));
    use_ = use;
}

}  // namespace engine
