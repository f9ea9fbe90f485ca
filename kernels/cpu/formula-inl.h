// The functions that formulas (.inc) use, for vectors of f32: cpu/formula_double.h has those for
// double. Include after hwy/highway.h in a file that goes through foreach_target.

#if defined(KERNELS_CPU_FORMULA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_FORMULA_INL_H
#undef KERNELS_CPU_FORMULA_INL_H
#else
#define KERNELS_CPU_FORMULA_INL_H
#endif

#include "cpu/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

HWY_INLINE VF multiply_add(VF a, VF b, VF c) { return hn::MulAdd(a, b, c); }
HWY_INLINE VF multiply_subtract(VF a, VF b, VF c) { return hn::MulSub(a, b, c); }
HWY_INLINE VF negative_multiply_add(VF a, VF b, VF c) { return hn::NegMulAdd(a, b, c); }
HWY_INLINE VF square_root(VF a) { return hn::Sqrt(a); }
HWY_INLINE VF absolute(VF a) { return hn::Abs(a); }
/// NaN if either is.
HWY_INLINE VF larger(VF a, VF b) { return maximum_of(a, b); }
HWY_INLINE VF smaller(VF a, VF b) { return minimum_of(a, b); }

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
