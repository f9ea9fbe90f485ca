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

/// How a loop body accesses a full vector, and the remainder of one. For full vectors the same body
/// compiles to plain loads and stores.
struct Whole {
    template <class T>
    HWY_INLINE VF load(const T* p) const {
        return HWY_NAMESPACE::load(p);
    }
    template <class T>
    HWY_INLINE void store(VF v, T* p) const {
        HWY_NAMESPACE::store(v, p);
    }
};
struct Part {
    std::size_t n;
    template <class T>
    HWY_INLINE VF load(const T* p) const {
        return load_part(p, n);
    }
    template <class T>
    HWY_INLINE void store(VF v, T* p) const {
        store_part(v, p, n);
    }
};

/// f(i, Whole) for every full vector of n elements, then f(i, Part) for the rest.
template <class F>
HWY_INLINE void for_each_vector(std::int64_t n, const F& f) {
    const std::int64_t lanes = lane_count();
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) f(i, Whole());
    if (i < n) f(i, Part{static_cast<std::size_t>(n - i)});
}

/// y[i] = f(x[i])
template <class To, class From, class F>
void map(To* y, const From* x, std::int64_t n, const F& f) {
    for_each_vector(
        n, [&](std::int64_t i, auto part) HWY_ATTR { part.store(f(part.load(x + i)), y + i); });
}

/// y[i] = f(a[i], b[i])
template <class To, class From, class F>
void map(To* y, const From* a, const From* b, std::int64_t n, const F& f) {
    for_each_vector(n, [&](std::int64_t i, auto part)
                           HWY_ATTR { part.store(f(part.load(a + i), part.load(b + i)), y + i); });
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
