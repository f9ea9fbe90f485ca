#include "simt/heap.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "simt/races.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace kernels::simt {
namespace {

constexpr std::size_t alignment = 256;

}  // namespace

#ifdef __SANITIZE_ADDRESS__

// Each block is allocated by the sanitizer, so that a kernel's read past its end is detected to the
// byte.
Heap::Heap() = default;
Heap::~Heap() {
    for (const auto& [data, size] : blocks_) ::operator delete (data, std::align_val_t{alignment});
}

void* Heap::take(std::size_t bytes) {
    void* data = ::operator new (bytes, std::align_val_t{alignment});
    std::memset(data, 0xff, bytes);
    if (open_ == 0) __asan_poison_memory_region(data, bytes);
    blocks_[data] = bytes;
    bytes_ += static_cast<std::int64_t>(bytes);
    return data;
}

void Heap::give(void* data) {
    const auto found = blocks_.find(data);
    bytes_ -= static_cast<std::int64_t>(found->second);
    __asan_unpoison_memory_region(data, found->second);
    blocks_.erase(found);
    ::operator delete (data, std::align_val_t{alignment});
}

void Heap::open() {
    if (open_++ > 0) return;
    for (const auto& [data, size] : blocks_) __asan_unpoison_memory_region(data, size);
}

void Heap::close() {
    if (--open_ > 0) return;
    for (const auto& [data, size] : blocks_) __asan_poison_memory_region(data, size);
}

#else

namespace {
constexpr std::size_t reserved = std::size_t{16} << 30;  // per device
constexpr std::size_t max_devices = 4;
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// An address range for one more device. All ranges are contiguous, as the race detector requires.
std::byte* next_reserve() {
    static std::byte* const all = [] {
        void* at = mmap(nullptr, max_devices * reserved, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        // The heap is opened and closed whenever the host waits for the device; for a ResNet in
        // small pages that took a third of the time.
        static_cast<void>(madvise(at, max_devices * reserved, MADV_HUGEPAGE));
        watch_device_memory(at, max_devices * reserved);
        return static_cast<std::byte*>(at);
    }();
    static std::size_t taken = 0;
    if (taken == max_devices) throw std::bad_alloc();
    return all + reserved * taken++;
}

/// The pages that hold a range of memory.
class Pages {
public:
    Pages(void* data, std::size_t bytes)
        : before_(reinterpret_cast<std::uintptr_t>(data) % page),
          start_(static_cast<std::byte*>(data) - before_),
          bytes_((before_ + bytes + page - 1) / page * page) {}
    void protect(int access) const { mprotect(start_, bytes_, access); }

private:
    static constexpr std::size_t page = 4096;
    std::size_t before_;
    std::byte* start_;
    std::size_t bytes_;
};

}  // namespace

Heap::Heap() : reserve_(next_reserve()) {}
Heap::~Heap() { munmap(reserve_, reserved); }

void* Heap::take(std::size_t bytes) {
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    void* data = nullptr;
    if (const auto found = free_.find(size); found != free_.end()) {
        data = found->second;
        free_.erase(found);
    } else {
        const std::size_t unit = size < huge_page ? alignment : huge_page;
        const std::uintptr_t next = reinterpret_cast<std::uintptr_t>(reserve_) + used_;
        const std::size_t start = used_ + (unit - next % unit) % unit;
        if (start + size > reserved) throw std::bad_alloc();
        data = reserve_ + start;
        used_ = start + size;
    }
    // Only the block's own pages, which nobody may have made accessible yet: changing those of the
    // whole heap takes most of a small test's time.
    const Pages pages(data, size);
    pages.protect(PROT_READ | PROT_WRITE);
    std::memset(data, 0xff, size);
    if (open_ == 0) pages.protect(PROT_NONE);
    blocks_[data] = size;
    bytes_ += static_cast<std::int64_t>(size);
    return data;
}

void Heap::give(void* data) {
    const auto found = blocks_.find(data);
    bytes_ -= static_cast<std::int64_t>(found->second);
    free_.emplace(found->second, data);
    blocks_.erase(found);
}

void Heap::open() {
    if (open_++ == 0 && used_ > 0) Pages(reserve_, used_).protect(PROT_READ | PROT_WRITE);
}

void Heap::close() {
    if (--open_ == 0 && used_ > 0) Pages(reserve_, used_).protect(PROT_NONE);
}

#endif

bool Heap::holds(const void* data) const {
    const auto after = blocks_.upper_bound(const_cast<void*>(data));
    if (after == blocks_.begin()) return false;
    const auto& [start, size] = *std::prev(after);
    return static_cast<const std::byte*>(data) < static_cast<const std::byte*>(start) + size;
}

}  // namespace kernels::simt
