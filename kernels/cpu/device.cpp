#include "kernels/device.h"

#include <oneapi/dnnl/dnnl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <string_view>

#include "cpu/cpu_level.h"
#include "kernels/device_error.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t large_block = std::size_t{64} << 20;
constexpr std::size_t counted_block = std::size_t{1} << 20;
/// Address space that our blocks leave free under a limit: oneDNN crashes if it cannot map memory
/// for a primitive's code.
constexpr std::int64_t for_libraries = std::int64_t{64} << 20;

std::string model_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string text; std::getline(file, text);) {
        if (!text.starts_with("model name")) continue;
        const auto colon = text.find(": ");
        if (colon != std::string::npos) return text.substr(colon + 2);
    }
    return "unknown";
}

std::int64_t physical_memory() {
    return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

std::string linked_onednn() {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

bool leaves_addresses(std::size_t bytes) {
    const std::int64_t left = address_space_left() - for_libraries;
    return left >= 0 && bytes <= static_cast<std::size_t>(left);
}

}  // namespace

CpuInfo info() {
    CpuInfo result;
    result.model = model_name();
    result.cores = hardware_threads();
    result.memory_bytes = physical_memory();
    read_features(result);
    limit(result, level());
    result.level = to_string(level());
    result.onednn_version = linked_onednn();
    result.simd_target = simd_target();
    return result;
}

/// Memory that the system can provide without swapping; all of it if unknown.
std::int64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    constexpr std::string_view field = "MemAvailable:";
    for (std::string text; std::getline(file, text);) {
        if (!text.starts_with(field)) continue;
        return std::strtoll(text.c_str() + field.size(), nullptr, 10) << 10;
    }
    return physical_memory();
}

void* allocate(std::size_t bytes) {
    static const auto limit = static_cast<std::size_t>(physical_memory());
    // Linux overcommits memory, so an allocation that cannot fit fails here, where the caller can
    // still act on it. The system is queried only for large blocks, where that costs little.
    if (bytes > limit ||
        (bytes >= large_block && bytes > static_cast<std::size_t>(available_memory()))) {
        throw OutOfMemory(bytes);
    }
    if (bytes >= counted_block && !leaves_addresses(bytes)) throw OutOfMemory(bytes);
    const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : line;
    const std::size_t rounded =
        bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
    void* data = std::aligned_alloc(alignment, rounded);
    if (data == nullptr) throw OutOfMemory(bytes);
    // Large pages spare page faults and TLB misses; the advice may be refused without harm. Not for
    // the rest of the last one, which would become memory whole.
    if (alignment == huge_page)
        static_cast<void>(madvise(data, bytes / huge_page * huge_page, MADV_HUGEPAGE));
    return data;
}

void release(void* data) noexcept { std::free(data); }

namespace {

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
