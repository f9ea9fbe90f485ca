// f32 vectors to and from f32, f16 and bf16 in memory, for the code of one Highway target. Include
// after hwy/highway.h in a file that goes through foreach_target.
//
// Stores round to nearest even once, keep subnormals, overflow to infinity and keep NaN: bit for
// bit what kernels/dtype.h does. Highway's own DemoteTo truncates to bf16 on every target, and to
// f16 on those without F16C, so only the F16C instructions are taken from it.

#if defined(KERNELS_CPU_CONVERT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_CONVERT_INL_H
#undef KERNELS_CPU_CONVERT_INL_H
#else
#define KERNELS_CPU_CONVERT_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/dtype.h"

#undef HALFTONE_HAVE_F16C
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define HALFTONE_HAVE_F16C 1
#else
#define HALFTONE_HAVE_F16C 0
#endif

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;
using DU = hn::RebindToUnsigned<DF>;
using DI = hn::RebindToSigned<DF>;
using DU16 = hn::Rebind<std::uint16_t, DF>;
using VU16 = hn::Vec<DU16>;
using DF16 = hn::Rebind<hwy::float16_t, DF>;

HWY_INLINE VF f32_from_f16(VU16 half) {
#if HALFTONE_HAVE_F16C
    return hn::PromoteTo(DF(), hn::BitCast(DF16(), half));
#else
    const DU u32;
    const DI i32;
    const auto bits = hn::PromoteTo(u32, half);
    const auto magnitude = hn::And(bits, hn::Set(u32, 0x7fffu));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(u32, 0x8000u)));
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(u32, 0x38000000u));
    const auto subnormal = hn::BitCast(
        u32, hn::Mul(hn::ConvertTo(DF(), hn::BitCast(i32, magnitude)), hn::Set(DF(), 0x1p-24f)));
    const auto signed_magnitude = hn::BitCast(i32, magnitude);
    const auto is_nan = hn::Gt(signed_magnitude, hn::Set(i32, 0x7c00));
    const auto quiet = hn::IfThenElseZero(is_nan, hn::Set(i32, 0x00400000));
    const auto special =
        hn::Or(hn::Add(shifted, hn::Set(u32, 0x70000000u)), hn::BitCast(u32, quiet));
    auto result = hn::IfThenElse(hn::RebindMask(u32, hn::Lt(signed_magnitude, hn::Set(i32, 0x400))),
                                 subnormal, normal);
    result = hn::IfThenElse(hn::RebindMask(u32, hn::Gt(signed_magnitude, hn::Set(i32, 0x7bff))),
                            special, result);
    return hn::BitCast(DF(), hn::Or(result, sign));
#endif
}

HWY_INLINE VU16 f16_from_f32(VF value) {
#if HALFTONE_HAVE_F16C
    return hn::BitCast(DU16(), hn::DemoteTo(DF16(), value));
#else
    const DU u32;
    const DI i32;
    const auto bits = hn::BitCast(i32, value);
    const auto magnitude = hn::And(bits, hn::Set(i32, 0x7fffffff));
    const auto sign =
        hn::ShiftRight<16>(hn::AndNot(hn::Set(u32, 0x7fffffffu), hn::BitCast(u32, bits)));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(i32, 1));
    const auto normal =
        hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, odd), hn::Set(i32, 0xfff - 0x38000000)));
    // Adding 0.5 to a value below 2^-14 leaves its rounded count of 2^-24 in the low bits.
    const auto aligned = hn::Add(hn::BitCast(DF(), magnitude), hn::Set(DF(), 0.5f));
    const auto subnormal = hn::Sub(hn::BitCast(i32, aligned), hn::Set(i32, 0x3f000000));
    const auto payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(i32, 0x3ff));
    const auto nan = hn::Or(payload, hn::Set(i32, 0x7e00));
    auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(i32, 0x38800000)), subnormal, normal);
    result =
        hn::IfThenElse(hn::Gt(magnitude, hn::Set(i32, 0x477fefff)), hn::Set(i32, 0x7c00), result);
    result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(i32, 0x7f800000)), nan, result);
    return hn::DemoteTo(DU16(), hn::BitCast(i32, hn::Or(hn::BitCast(u32, result), sign)));
#endif
}

HWY_INLINE VF f32_from_bf16(VU16 value) {
    return hn::BitCast(DF(), hn::ShiftLeft<16>(hn::PromoteTo(DU(), value)));
}

HWY_INLINE VU16 bf16_from_f32(VF value) {
    const DU u32;
    const auto bits = hn::BitCast(u32, value);
    const auto high = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(high, hn::Set(u32, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, odd), hn::Set(u32, 0x7fffu)));
    const auto is_number = hn::RebindMask(u32, hn::Eq(value, value));
    const auto result = hn::IfThenElse(is_number, rounded, hn::Or(high, hn::Set(u32, 0x40u)));
    return hn::DemoteTo(DU16(), hn::BitCast(DI(), result));
}

/// One vector of consecutive elements as f32.
HWY_INLINE VF load(const float* p) { return hn::LoadU(DF(), p); }
HWY_INLINE VF load(const Half* p) { return f32_from_f16(hn::LoadU(DU16(), &p->bits)); }
HWY_INLINE VF load(const BFloat16* p) { return f32_from_bf16(hn::LoadU(DU16(), &p->bits)); }

HWY_INLINE void store(VF v, float* p) { hn::StoreU(v, DF(), p); }
HWY_INLINE void store(VF v, Half* p) { hn::StoreU(f16_from_f32(v), DU16(), &p->bits); }
HWY_INLINE void store(VF v, BFloat16* p) { hn::StoreU(bf16_from_f32(v), DU16(), &p->bits); }

/// The first n < Lanes elements; the other lanes come as 0 and are not written.
template <class T>
HWY_INLINE VF load_part(const T* p, std::size_t n) {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(float)] = {};
    for (std::size_t i = 0; i < n; ++i) buffer[i] = p[i];
    return load(buffer);
}
template <class T>
HWY_INLINE void store_part(VF v, T* p, std::size_t n) {
    HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(float)] = {};  // GCC cannot see that n < Lanes
    store(v, buffer);
    for (std::size_t i = 0; i < n; ++i) p[i] = buffer[i];
}

#if HWY_TARGET == HWY_AVX3
// Masked accesses do not fault on the lanes they leave out.
HWY_INLINE VF load_part(const float* p, std::size_t n) {
    return hn::MaskedLoad(hn::FirstN(DF(), n), DF(), p);
}
HWY_INLINE VF load_part(const Half* p, std::size_t n) {
    return f32_from_f16(hn::MaskedLoad(hn::FirstN(DU16(), n), DU16(), &p->bits));
}
HWY_INLINE VF load_part(const BFloat16* p, std::size_t n) {
    return f32_from_bf16(hn::MaskedLoad(hn::FirstN(DU16(), n), DU16(), &p->bits));
}
HWY_INLINE void store_part(VF v, float* p, std::size_t n) {
    hn::BlendedStore(v, hn::FirstN(DF(), n), DF(), p);
}
HWY_INLINE void store_part(VF v, Half* p, std::size_t n) {
    hn::BlendedStore(f16_from_f32(v), hn::FirstN(DU16(), n), DU16(), &p->bits);
}
HWY_INLINE void store_part(VF v, BFloat16* p, std::size_t n) {
    hn::BlendedStore(bf16_from_f32(v), hn::FirstN(DU16(), n), DU16(), &p->bits);
}
#endif

/// min(n, Lanes) elements, n > 0.
template <class T>
HWY_INLINE void store_part_or_all(VF v, T* p, std::int64_t n) {
    if (n >= static_cast<std::int64_t>(hn::Lanes(DF())))
        store(v, p);
    else
        store_part(v, p, static_cast<std::size_t>(n));
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
