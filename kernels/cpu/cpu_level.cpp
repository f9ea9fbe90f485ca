#include "cpu/cpu_level.h"

#include <hwy/targets.h>
#include <oneapi/dnnl/dnnl.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cpu/cpu_features.h"

namespace kernels::cpu {
namespace {

constexpr CpuLevel levels[] = {CpuLevel::sse2, CpuLevel::avx2, CpuLevel::avx512,
                               CpuLevel::avx512_bf16, CpuLevel::amx};
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
            return "sse2";
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

}  // namespace kernels::cpu
