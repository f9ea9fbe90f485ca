#include "cpu/cpu_level.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd_target.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

// By dispatch, as the loops: hwy::SupportedTargets() sets every loop of the process back to all
// targets of the processor, whatever HALFTONE_CPU says.
const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {

namespace {
HWY_EXPORT(target_name);
}

std::string simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace kernels::cpu
#endif
