// One row of a softmax in f32 vectors. Include after hwy/highway.h in a file that goes through
// foreach_target.

#if defined(KERNELS_CPU_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_ROWS_INL_H
#undef KERNELS_CPU_ROWS_INL_H
#else
#define KERNELS_CPU_ROWS_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/elementwise_math-inl.h"
#include "cpu/formula-inl.h"
#include "cpu/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

#define HALFTONE_FORMULA HWY_INLINE
#include "cpu/softmax_formulas.inc"
#undef HALFTONE_FORMULA

/// Sum of f(a[i], b[i]). Lanes collect at most 128 terms before they are added to the total, so
/// that the error of a row of 33,000 stays near that of one of 300.
template <class T, class F>
HWY_INLINE float row_sum(const T* a, const T* b, std::int64_t n, const F& f) {
    const DF d;
    const std::int64_t lanes = lane_count();
    VF total = hn::Zero(d);
    std::int64_t i = 0;
    while (i + lanes <= n) {
        const std::int64_t stop = std::min(n - lanes, i + 127 * lanes);
        VF sum = hn::Zero(d);
        for (; i <= stop; i += lanes) sum = hn::Add(sum, f(load(a + i), load(b + i)));
        total = hn::Add(total, sum);
    }
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        const VF last = f(load_part(a + i, rest), load_part(b + i, rest));
        total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, rest), last));
    }
    return hn::GetLane(hn::SumOfLanes(d, total));
}

/// The largest element; NaN counts as the lowest. Four maxima at a time, each of which would wait
/// for the one before.
template <class T>
HWY_INLINE float row_max(const T* x, std::int64_t n) {
    const DF d;
    constexpr int chains = 4;
    const std::int64_t lanes = lane_count();
    const VF lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
    VF most[chains] = {lowest, lowest, lowest, lowest};
    std::int64_t i = 0;
    for (; i + chains * lanes <= n; i += chains * lanes)
        for (int k = 0; k < chains; ++k) most[k] = hn::Max(load(x + i + k * lanes), most[k]);
    for (; i + lanes <= n; i += lanes) most[0] = hn::Max(load(x + i), most[0]);
    if (i < n)
        most[0] = hn::Max(load_part_or(x + i, static_cast<std::size_t>(n - i), lowest), most[0]);
    const VF all = hn::Max(hn::Max(most[0], most[1]), hn::Max(most[2], most[3]));
    return hn::GetLane(hn::MaxOfLanes(d, all));
}

/// Factors that turn logits into probabilities. A NaN in the row makes the sum NaN, whatever the
/// maximum is, and so does an infinite maximum.
struct RowScale {
    float max, sum;
};

template <class T>
HWY_INLINE RowScale row_scale(const T* x, std::int64_t n) {
    const float most = row_max(x, n);
    const VF shift = hn::Set(DF(), most);
    return {most, row_sum(x, x, n, [&](VF v, VF) { return exp_of(hn::Sub(v, shift)); })};
}

template <class To, class From>
HWY_INLINE void softmax_row(To* y, const From* x, std::int64_t n, RowScale scale) {
    const VF shift = hn::Set(DF(), scale.max);
    const VF sum = hn::Set(DF(), scale.sum);
    map(y, x, n, [&](VF v) { return probability(v, shift, sum); });
}

template <class To, class From>
HWY_INLINE void log_softmax_row(To* y, const From* x, std::int64_t n, RowScale scale) {
    const VF shift = hn::Set(DF(), scale.max);
    const VF log_sum = hn::Set(DF(), std::log(scale.sum));
    map(y, x, n, [&](VF v) { return log_probability(v, shift, log_sum); });
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
