#include "kernels/device.h"

#include <oneapi/dnnl/dnnl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "cpu/cpu_features.h"
#include "cpu/cpu_level.h"
#include "cpu/simd_target.h"
#include "kernels/address_space.h"
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

}  // namespace kernels::cpu
