// Loops over dense f32, f16 or bf16 memory that compute in f32 vectors. Include after hwy/highway.h
// in a file that goes through foreach_target.

#if defined(KERNELS_CPU_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_LOOPS_INL_H
#undef KERNELS_CPU_LOOPS_INL_H
#else
#define KERNELS_CPU_LOOPS_INL_H
#endif

#include "cpu/convert-inl.h"
#include "kernels/array.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

inline std::int64_t lane_count() { return static_cast<std::int64_t>(hn::Lanes(DF())); }

/// f(T{}) with T the stored type of f32, f16 or bf16.
template <class F>
void with_vector_type(DType dtype, const F& f) {
    if (dtype == DType::f32) f(float{});
    if (dtype == DType::f16) f(Half{});
    if (dtype == DType::bf16) f(BFloat16{});
}

/// The first n lanes from p, the others `rest`.
template <class T>
HWY_INLINE VF load_part_or(const T* p, std::size_t n, VF rest) {
    return hn::IfThenElse(hn::FirstN(DF(), n), load_part(p, n), rest);
}

/// y[i] = f(x[i])
template <class To, class From, class F>
void map(To* y, const From* x, std::int64_t n, const F& f) {
    const std::int64_t lanes = lane_count();
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(f(load(x + i)), y + i);
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        store_part(f(load_part(x + i, rest)), y + i, rest);
    }
}

/// y[i] = f(a[i], b[i])
template <class To, class From, class F>
void map(To* y, const From* a, const From* b, std::int64_t n, const F& f) {
    const std::int64_t lanes = lane_count();
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(f(load(a + i), load(b + i)), y + i);
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        store_part(f(load_part(a + i, rest), load_part(b + i, rest)), y + i, rest);
    }
}

HWY_INLINE VF relu_of(VF x) {  // NaN stays
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(DF())), x);
}

/// The larger, NaN if either is NaN.
HWY_INLINE VF maximum_of(VF a, VF b) {
    return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Gt(a, b), a, b), a);
}
HWY_INLINE VF minimum_of(VF a, VF b) {
    return hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Lt(a, b), a, b), a);
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
