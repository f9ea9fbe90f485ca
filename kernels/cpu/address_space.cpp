#include "kernels/address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>

#include "kernels/device_error.h"

namespace kernels::cpu {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::uintptr_t round_up(std::uintptr_t value, std::uintptr_t unit) {
    return (value + unit - 1) / unit * unit;
}

char* pointer(std::uintptr_t address) { return reinterpret_cast<char*>(address); }

/// Size of the process's address space in bytes; 0 if unknown.
std::int64_t addresses_in_use() {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "r"),
                                                               std::fclose);
    long long pages = 0;
    if (file == nullptr || std::fscanf(file.get(), "%lld", &pages) != 1) return 0;
    return pages * sysconf(_SC_PAGESIZE);
}

void unmap(std::uintptr_t from, std::uintptr_t to) {
    if (to > from) static_cast<void>(munmap(pointer(from), to - from));
}

}  // namespace

void* reserve(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - huge_page) throw OutOfMemory(bytes);
    const std::size_t mapped = bytes + huge_page;
    void* const found = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) throw OutOfMemory(bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(found);
    const std::uintptr_t data = round_up(begin, huge_page);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    unmap(begin, data);
    unmap(round_up(data + bytes, page), begin + mapped);
    // Large pages spare page faults and TLB misses; the advice may be refused without harm.
    static_cast<void>(madvise(pointer(data), bytes, MADV_HUGEPAGE));
    return pointer(data);
}

void give_pages_back(void* data, std::size_t bytes) noexcept {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t from = round_up(begin, page), to = (begin + bytes) / page * page;
    if (to > from) static_cast<void>(madvise(pointer(from), to - from, MADV_DONTNEED));
}

void unreserve(void* data, std::size_t bytes) noexcept {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    unmap(begin, round_up(begin + bytes, page));
}

std::int64_t address_space_left() noexcept {
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(all)) return all;
    return std::max<std::int64_t>(0,
                                  static_cast<std::int64_t>(limit.rlim_cur) - addresses_in_use());
}

}  // namespace kernels::cpu
