#include "cpu/cpu_features.h"

#include <cstdint>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace kernels::cpu {

#ifdef __x86_64__
namespace {

bool bit(unsigned value, int index) { return (value >> index & 1u) != 0; }

/// The registers that the operating system saves: bits of XCR0.
std::uint64_t saved_state() {
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
}

}  // namespace

void read_features(CpuInfo& info) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !bit(c, 27)) return;
    const std::uint64_t state = saved_state();
    const bool ymm = (state & 0x6u) == 0x6u;
    const bool zmm = (state & 0xe6u) == 0xe6u;
    const bool tiles = (state & 0x60000u) == 0x60000u;
    info.f16c = ymm && bit(c, 29);
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return;
    info.avx2 = ymm && bit(b, 5);
    info.avx512f = zmm && bit(b, 16);
    info.avx512_fp16 = zmm && bit(d, 23);
    info.amx_bf16 = tiles && bit(d, 22);
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) info.avx512_bf16 = zmm && bit(a, 5);
}
#else
void read_features(CpuInfo&) {}
#endif

}  // namespace kernels::cpu
