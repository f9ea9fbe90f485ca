#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace kernels::test {

/// Runs f with each instruction set that the loops are compiled for and this machine has: AVX-512,
/// AVX2 and the compiler's baseline.
template <class F>
void on_every_target(const F& f) {
    const std::int64_t all = hwy::SupportedTargets();
    for (std::int64_t least : {HWY_AVX3, HWY_AVX2, HWY_AVX2 << 1}) {
        const std::int64_t targets = all & ~(least - 1);
        hwy::GetChosenTarget().Update(targets);
        SCOPED_TRACE(targets);
        f();
    }
    hwy::GetChosenTarget().Update(all);
}

}  // namespace kernels::test
