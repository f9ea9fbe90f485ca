#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernels {

/// The CPU as the kernels see it: features above the level of HALFTONE_CPU are absent.
struct CpuInfo {
    std::string model;
    int cores = 0;
    std::int64_t memory_bytes = 0;
    bool avx2 = false, f16c = false, avx512f = false, avx512_bf16 = false, avx512_fp16 = false,
         amx_bf16 = false;
    std::string onednn_version;
    std::string simd_target;  ///< Highway's choice, "AVX3_ZEN4"
    std::string level;        ///< "sse2", "avx2", "avx512", "avx512_bf16" or "amx": the
                              ///< processor's, or what HALFTONE_CPU limits it to
};

namespace cpu {
CpuInfo info();
/// Bytes that the machine can give without swapping, as the system estimates it.
std::int64_t available_memory();
/// 64-byte aligned; throws OutOfMemory. Under `ulimit -v` it leaves 64 MiB for libraries.
void* allocate(std::size_t bytes);
void release(void* data) noexcept;

/// Address space whose pages become memory when they are first written to, in huge pages where the
/// system has them. Aligned to a huge page. Throws OutOfMemory.
void* reserve(std::size_t bytes);

/// Gives the memory of the whole pages in [data, data + bytes) back to the system. They stay
/// reserved, and what they held is lost.
void give_pages_back(void* data, std::size_t bytes) noexcept;

/// Ends a reservation, or that of a part of whole pages.
void unreserve(void* data, std::size_t bytes) noexcept;

/// Bytes of addresses that the process may still take where they are limited (`ulimit -v`); the
/// largest number where they are not.
std::int64_t address_space_left() noexcept;
}  // namespace cpu

namespace cuda {
/// True if this build has the CUDA backend.
bool built();
/// Devices that can be used; 0 without a driver. Never throws.
int device_count() noexcept;
/// Why device_count() is 0: "this build has no CUDA", "no NVIDIA driver", ...
std::string why_absent();
}  // namespace cuda

}  // namespace kernels
