// Sums of rows in f32 vectors. Include after hwy/highway.h in a file that goes through
// foreach_target.

#if defined(KERNELS_CPU_LANE_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_LANE_SUMS_INL_H
#undef KERNELS_CPU_LANE_SUMS_INL_H
#else
#define KERNELS_CPU_LANE_SUMS_INL_H
#endif

#include "cpu/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

/// Each lane has the bits of a SumFold<float> (index_fold.h) of its terms.
class LaneSums {
public:
    // Written out, since GCC compiles an implicit constructor for the baseline target.
    HWY_INLINE LaneSums() : whole_(hn::Zero(DF())), piece_(hn::Zero(DF())) {}

    HWY_INLINE void add(VF v) {
        piece_ = hn::Add(piece_, v);
        if (++count_ % 256 != 0) return;
        whole_ = hn::Add(whole_, piece_);
        piece_ = hn::Zero(DF());
    }
    HWY_INLINE VF value() const { return hn::Add(whole_, piece_); }

private:
    VF whole_, piece_;
    std::int64_t count_ = 0;
};

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
