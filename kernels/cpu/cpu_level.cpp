#include "cpu/cpu_level.h"

#include <hwy/targets.h>
#include <oneapi/dnnl/dnnl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace kernels::cpu {
namespace {

#ifdef __x86_64__
constexpr CpuLevel levels[] = {CpuLevel::sse2, CpuLevel::avx2, CpuLevel::avx512,
                               CpuLevel::avx512_bf16, CpuLevel::amx};
constexpr char lowest_level[] = "sse2";
#else
constexpr CpuLevel levels[] = {CpuLevel::sse2};  // the compiler's baseline, such as NEON
constexpr char lowest_level[] = "baseline";
#endif
constexpr int usage_error = 2;

/// Highway's targets above a level. Its bits fall from the oldest instruction set to the newest.
std::int64_t targets_above(CpuLevel level) {
    if (level == CpuLevel::sse2) return (std::int64_t{HWY_AVX2} << 1) - 1;
    return level == CpuLevel::avx2 ? std::int64_t{HWY_AVX2} - 1 : 0;
}

dnnl_cpu_isa_t library_limit(CpuLevel level) {
    switch (level) {
        case CpuLevel::sse2:
            return dnnl_cpu_isa_sse41;
        case CpuLevel::avx2:
            return dnnl_cpu_isa_avx2;
        case CpuLevel::avx512:
            return dnnl_cpu_isa_avx512_core;
        default:
            return dnnl_cpu_isa_avx512_core_bf16;
    }
}

[[noreturn]] void refuse(const std::string& value, const std::string& why) {
    std::string names;
    for (const CpuLevel level : levels) {
        if (!names.empty()) names += ", ";
        names += to_string(level);
    }
    std::fprintf(stderr,
                 "HALFTONE_CPU=%s: %s. The levels are %s; this processor has those up to %s.\n",
                 value.c_str(), why.c_str(), names.c_str(), to_string(highest_level()));
    std::_Exit(usage_error);
}

CpuLevel read_level() {
    const char* value = std::getenv("HALFTONE_CPU");
    const CpuLevel highest = highest_level();
    if (value == nullptr || *value == '\0') return highest;
    const std::string name = value;
    for (const CpuLevel level : levels) {
        if (name != to_string(level)) continue;
        if (level > highest) refuse(name, "this processor lacks the level");
        return level;
    }
    refuse(name, "there is no such level");
}

/// Applies HALFTONE_CPU. The highest level has no limit, so that it is what runs without the
/// variable.
CpuLevel apply_level() {
    const CpuLevel chosen = read_level();
    if (chosen == highest_level()) return chosen;
    hwy::DisableTargets(targets_above(chosen));
    if (dnnl_set_max_cpu_isa(library_limit(chosen)) != dnnl_success)
        refuse(to_string(chosen), "this build of oneDNN cannot be limited");
    return chosen;
}

// Before main(), so that it precedes the first use of oneDNN in every program that links the
// kernels, tests included.
[[maybe_unused]] const CpuLevel applied = level();

}  // namespace

const char* to_string(CpuLevel level) {
    switch (level) {
        case CpuLevel::sse2:
            return lowest_level;
        case CpuLevel::avx2:
            return "avx2";
        case CpuLevel::avx512:
            return "avx512";
        case CpuLevel::avx512_bf16:
            return "avx512_bf16";
        default:
            return "amx";
    }
}

CpuLevel highest_level() {
    static const CpuLevel highest = [] {
        CpuInfo info;
        read_features(info);
        const std::int64_t targets = hwy::SupportedTargets();
        if ((targets & HWY_AVX2) == 0) return CpuLevel::sse2;
        if ((targets & HWY_AVX3) == 0) return CpuLevel::avx2;
        if (!info.avx512_bf16) return CpuLevel::avx512;
        return info.amx_bf16 ? CpuLevel::amx : CpuLevel::avx512_bf16;
    }();
    return highest;
}

CpuLevel level() {
    static const CpuLevel chosen = apply_level();
    return chosen;
}

void limit(CpuInfo& info, CpuLevel level) {
    if (level == highest_level()) return;
    info.amx_bf16 = info.avx512_fp16 = false;
    if (level < CpuLevel::avx512_bf16) info.avx512_bf16 = false;
    if (level < CpuLevel::avx512) info.avx512f = false;
    if (level < CpuLevel::avx2) info.avx2 = info.f16c = false;
}

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
