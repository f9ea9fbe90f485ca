// Philox 4x32-10 (kernels/philox.h) for a vector of counters. Include after hwy/highway.h in a file
// that goes through foreach_target. Not for HWY_SCALAR, which has no product of u32 in u64.

#if defined(KERNELS_CPU_PHILOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELS_CPU_PHILOX_INL_H
#undef KERNELS_CPU_PHILOX_INL_H
#else
#define KERNELS_CPU_PHILOX_INL_H
#endif

#include "cpu/convert-inl.h"
#include "kernels/philox.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {

using VU = hn::Vec<DU>;

/// The upper and the lower halves of a's and b's products.
struct WideProduct {
    VU high, low;
};
HWY_INLINE WideProduct wide_product(VU a, VU b) {
    const DU u32;
    const hn::RepartitionToWide<DU> u64;
    const auto even = hn::MulEven(a, b);
    const auto odd = hn::MulEven(hn::BitCast(u32, hn::ShiftRight<32>(hn::BitCast(u64, a))), b);
    return {hn::OddEven(hn::BitCast(u32, odd), hn::BitCast(u32, hn::ShiftRight<32>(even))),
            hn::OddEven(hn::BitCast(u32, hn::ShiftLeft<32>(odd)), hn::BitCast(u32, even))};
}

/// Word w of each lane's block.
struct PhiloxWords {
    VU word[4];
};

/// Blocks index, index + 1, ... of a stream, one per lane. The lower half of the index must not
/// overflow within a vector.
HWY_INLINE PhiloxWords philox_blocks(const PhiloxStream& stream, std::uint64_t index) {
    const DU u32;
    const auto set = [&](std::uint32_t v) HWY_ATTR { return hn::Set(u32, v); };
    VU c0 = hn::Iota(u32, static_cast<std::uint32_t>(index));
    VU c1 = set(static_cast<std::uint32_t>(index >> 32));
    VU c2 = set(stream.substream), c3 = set(stream.stream);
    PhiloxKey key = stream.key;
    const VU multiplier_0 = set(0xD2511F53), multiplier_1 = set(0xCD9E8D57);
    for (int round = 0; round < 10; ++round) {
        const WideProduct p0 = wide_product(c0, multiplier_0);
        const WideProduct p1 = wide_product(c2, multiplier_1);
        c0 = hn::Xor(hn::Xor(p1.high, c1), set(key[0]));
        c1 = p1.low;
        c2 = hn::Xor(hn::Xor(p0.high, c3), set(key[1]));
        c3 = p0.low;
        key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
    }
    return {{c0, c1, c2, c3}};
}

}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif  // include guard
