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
        void* at = mmap(nullptr, max_devices * reserved + huge_page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(at);
        at = static_cast<std::byte*>(at) + (huge_page - begin % huge_page) % huge_page;
        // The heap is opened and closed whenever the host waits for the device; in small pages that
        // took a third of the time. So a closed heap is left alone until it is opened, and its end
        // is that of a huge page; a build with the address sanitizer finds what lies past a block.
        static_cast<void>(madvise(at, max_devices * reserved, MADV_HUGEPAGE));
        watch_device_memory(at, max_devices * reserved);
        return static_cast<std::byte*>(at);
    }();
    static std::size_t taken = 0;
    if (taken == max_devices) throw std::bad_alloc();
    return all + reserved * taken++;
}

void protect(std::byte* from, const std::byte* to, int access) {
    if (from < to) mprotect(from, static_cast<std::size_t>(to - from), access);
}

}  // namespace

Heap::Heap() : reserve_(next_reserve()) {}
Heap::~Heap() { munmap(reserve_, reserved); }

std::byte* Heap::end() const {
    return reserve_ + (used_ + huge_page - 1) / huge_page * huge_page;
}

void* Heap::take(std::size_t bytes) {
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    void* data = nullptr;
    if (const auto found = free_.find(size); found != free_.end()) {
        data = found->second;
        free_.erase(found);
    } else {
        const std::size_t unit = size < huge_page ? alignment : huge_page;
        const std::size_t start = (used_ + unit - 1) / unit * unit;
        if (start + size > reserved) throw std::bad_alloc();
        std::byte* const before = end();
        data = reserve_ + start;
        used_ = start + size;
        if (open_ > 0) protect(before, end(), PROT_READ | PROT_WRITE);
    }
    fresh_.emplace_back(data, size);
    if (open_ > 0) fill_fresh();
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

void Heap::fill_fresh() {
    for (const auto& [data, size] : fresh_) std::memset(data, 0xff, size);
    fresh_.clear();
}

void Heap::open() {
    if (open_++ > 0) return;
    protect(reserve_, end(), PROT_READ | PROT_WRITE);
    fill_fresh();
}

void Heap::close() {
    if (--open_ == 0) protect(reserve_, end(), PROT_NONE);
}

#endif

bool Heap::holds(const void* data) const {
    const auto after = blocks_.upper_bound(const_cast<void*>(data));
    if (after == blocks_.begin()) return false;
    const auto& [start, size] = *std::prev(after);
    return static_cast<const std::byte*>(data) < static_cast<const std::byte*>(start) + size;
}

}  // namespace kernels::simt
