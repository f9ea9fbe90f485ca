#include "kernels/dropout.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "cpu/grain.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dropout.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

// Philox 4x32-10 (kernels/philox.h) for a vector of counters. Not for HWY_SCALAR, which has no
// product of u32 in u64.
#if HWY_TARGET != HWY_SCALAR
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
#endif

/// Writes the elements of as many of the blocks [index, end) as fill vectors, four bytes a block: 1
/// where the upper 24 bits of the word are at least `least`. Returns the first remaining block.
std::uint64_t fill_mask_blocks([[maybe_unused]] std::uint8_t* kept,
                           [[maybe_unused]] const PhiloxStream& random, std::uint64_t index,
                           [[maybe_unused]] std::uint64_t end,
                           [[maybe_unused]] std::uint32_t least) {
#if HWY_TARGET != HWY_SCALAR
    const DU u32;
    const std::uint64_t lanes = hn::Lanes(u32);
    // Signed comparison is the one that every target has; 24 bits are never negative.
    const hn::RebindToSigned<DU> i32;
    const auto below = hn::Set(i32, static_cast<std::int32_t>(least) - 1);
    const auto one = hn::Set(i32, 1);
    const auto flags = [&](VU word) HWY_ATTR {
        const auto number = hn::BitCast(i32, hn::ShiftRight<8>(word));
        return hn::BitCast(u32, hn::IfThenElseZero(hn::Gt(number, below), one));
    };
    while (index + lanes <= end && static_cast<std::uint32_t>(index) + lanes <= 0xffffffffu) {
        const PhiloxWords words = philox_blocks(random, index);
        const VU low = hn::Or(flags(words.word[0]), hn::ShiftLeft<8>(flags(words.word[1])));
        const VU high = hn::Or(flags(words.word[2]), hn::ShiftLeft<8>(flags(words.word[3])));
        const auto bytes = hn::Or(low, hn::ShiftLeft<16>(high));
        hn::StoreU(hn::BitCast(hn::Repartition<std::uint8_t, DU>(), bytes),
                   hn::Repartition<std::uint8_t, DU>(), kept);
        kept += 4 * lanes;
        index += lanes;
    }
#endif
    return index;
}

/// The first n flags of a mask as numbers; the other lanes are 0.
HWY_INLINE VF load_flags(const std::uint8_t* p, std::size_t n) {
    HWY_ALIGN std::int32_t flags[HWY_MAX_BYTES / sizeof(float)] = {};
    for (std::size_t i = 0; i < n; ++i) flags[i] = p[i] != 0 ? 1 : 0;
    return hn::ConvertTo(DF(), hn::Load(DI(), flags));
}
/// A vector of them: 1 where the byte is not 0.
HWY_INLINE VF load_flags(const std::uint8_t* p) {
#if HWY_TARGET == HWY_SCALAR
    return load_flags(p, 1);
#else
    const auto bytes = hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<std::uint8_t, DI>(), p));
    const auto set = hn::RebindMask(DF(), hn::Gt(bytes, hn::Zero(DI())));
    return hn::IfThenElseZero(set, hn::Set(DF(), 1.0f));
#endif
}

void apply_range(Array y, ConstArray x, const std::uint8_t* mask, float scale, std::int64_t begin,
                 std::int64_t end) {
    const VF factor = hn::Set(DF(), scale);
    with_vector_type(y.dtype, [&]<typename T>(T) {
        T* out = static_cast<T*>(y.data) + begin;
        const T* in = static_cast<const T*>(x.data) + begin;
        const std::uint8_t* kept = mask + begin;
        const std::int64_t n = end - begin, lanes = lane_count();
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes)
            store(hn::Mul(hn::Mul(load(in + i), load_flags(kept + i)), factor), out + i);
        if (i == n) return;
        const auto rest = static_cast<std::size_t>(n - i);
        const VF value = hn::Mul(load_part(in + i, rest), load_flags(kept + i, rest));
        store_part(hn::Mul(value, factor), out + i, rest);
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(fill_mask_blocks);
HWY_EXPORT(apply_range);

/// The least multiple of 2^-24 that is not below p, in units of that: a uniform number (at most
/// 1 - 2^-24) is kept from there on.
std::uint32_t min_kept(double p) {
    if (std::isnan(p)) return 1u << 24;  // no number reaches it
    return static_cast<std::uint32_t>(std::ceil(std::clamp(p, 0.0, 1.0) * 0x1p24));
}

}  // namespace

void dropout_mask(Array mask, const MaskSource& source, double p, Stream) {
    assert(mask.dtype == DType::boolean);
    PhiloxStream random = source.random;
    if (source.substream != nullptr)
        random.substream = static_cast<std::uint32_t>(*source.substream);
    auto* kept = static_cast<std::uint8_t*>(mask.data);
    const std::uint32_t least = min_kept(p);
    parallel_for(mask.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        const std::uint64_t stop = source.offset + static_cast<std::uint64_t>(end);
        for (std::int64_t i = begin; i < end;) {
            const std::uint64_t at = source.offset + static_cast<std::uint64_t>(i);
            std::uint64_t block = at / 4;
            if (at % 4 == 0) {
                block =
                    HWY_DYNAMIC_DISPATCH(fill_mask_blocks)(kept + i, random, block, stop / 4, least);
                i += static_cast<std::int64_t>(4 * (block - at / 4));
                if (i == end) break;
            }
            const PhiloxBlock words = random.block(block);
            for (std::size_t lane = block == at / 4 ? at % 4 : 0; lane < 4 && i < end; ++lane, ++i)
                kept[i] = words[lane] >> 8 >= least ? 1 : 0;
        }
    });
}

void dropout_apply(Array y, ConstArray x, ConstArray mask, double scale, Stream) {
    assert(y.dtype == x.dtype && is_floating(y.dtype) && mask.dtype == DType::boolean);
    assert(y.size == x.size && mask.size == x.size);
    const auto* kept = static_cast<const std::uint8_t*>(mask.data);
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        if (y.dtype != DType::f64) {
            HWY_DYNAMIC_DISPATCH(apply_range)(y, x, kept, static_cast<float>(scale), begin, end);
            return;
        }
        for (std::int64_t i = begin; i < end; ++i)
            static_cast<double*>(y.data)[i] =
                static_cast<const double*>(x.data)[i] * (kept[i] != 0 ? 1.0 : 0.0) * scale;
    });
}

}  // namespace kernels::cpu
#endif
