#pragma once

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

/// Memory of the race detector: the last accesses of each place.
namespace kernels::simt {

/// The last accesses of a place, in one word each, since every access is compared with two. Fields
/// wrap: an access expires after 2^12 launches, before it could be taken for a new one; blocks 2^20
/// apart count as one.
namespace stamp {
constexpr int launch = 52, block = 32, barriers = 16, thread = 6;  // first bit of each field
// For a read or an atomic operation, which other threads may do at the same time:
constexpr std::uint64_t others = 16;       // other threads did so since that barrier
constexpr std::uint64_t other_blocks = 8;  // other blocks did so in this launch
constexpr std::uint64_t bytes = 3;         // of the place that were accessed

/// The bits from `begin` to `end`.
constexpr std::uint64_t field(std::uint64_t value, int begin, int end) {
    return value >> begin & ((std::uint64_t{1} << (end - begin)) - 1);
}
constexpr bool same(std::uint64_t a, std::uint64_t b, int from) { return (a ^ b) >> from == 0; }
}  // namespace stamp

/// Two bytes of memory: the narrowest unit that neighbouring threads often write.
struct Place {
    std::uint64_t write, read;  // 0: no access yet
};
constexpr std::size_t place_bytes = 2;
constexpr std::uint64_t launches_remembered = (1u << 12) - 1;

/// A range of memory with its places, which use no memory before they are accessed.
class Shadow {
public:
    constexpr Shadow() = default;
    Shadow(const void* start, std::size_t bytes)
        : start_(reinterpret_cast<std::uintptr_t>(start)), bytes_(bytes) {
        places_ = static_cast<Place*>(reserve(count() * sizeof(Place)));
        // Most of it is used where any is: it is eight times as large as the memory.
        static_cast<void>(madvise(places_, count() * sizeof(Place), MADV_HUGEPAGE));
        atomics_ = static_cast<std::uint64_t*>(reserve(count() * sizeof(std::uint64_t)));
    }
    bool holds(std::uintptr_t address) const { return address - start_ < bytes_; }
    std::uintptr_t address(std::uintptr_t offset) const { return start_ + offset; }
    std::uintptr_t offset(std::uintptr_t address) const { return address - start_; }
    Place& at(std::uintptr_t offset) const { return places_[offset / place_bytes]; }
    /// The last thread that changed it atomically.
    std::uint64_t& atomic(std::uintptr_t offset) const { return atomics_[offset / place_bytes]; }
    void forget() const {
        if (!places_) return;
        madvise(places_, count() * sizeof(Place), MADV_DONTNEED);
        madvise(atomics_, count() * sizeof(std::uint64_t), MADV_DONTNEED);
    }

private:
    static void* reserve(std::size_t bytes) {
        void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        return at;
    }
    std::size_t count() const { return bytes_ / place_bytes + 1; }
    std::uintptr_t start_ = 0;
    std::size_t bytes_ = 0;
    Place* places_ = nullptr;
    std::uint64_t* atomics_ = nullptr;  // separate, since few kernels have any
};

/// The program's own variables. Shared memory is static on the simulated device.
inline Shadow shadow_of_variables() {
    struct Range {
        std::uintptr_t first = ~std::uintptr_t{0}, last = 0;
    } range;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& found = *static_cast<Range*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
                const std::uintptr_t start = info->dlpi_addr + part.p_vaddr;
                found.first = std::min(found.first, start);
                found.last = std::max(found.last, start + part.p_memsz);
            }
            return 1;  // the first is the program itself; no others
        },
        &range);
    range.first -= range.first % place_bytes;
    return {reinterpret_cast<void*>(range.first), range.last - range.first};
}

}  // namespace kernels::simt
