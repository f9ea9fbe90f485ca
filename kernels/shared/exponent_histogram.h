#pragma once

#include <cstdint>

#include "kernels/exponent_histogram.h"
#include "kernels/host_device.h"

/// Where a magnitude is counted, by the bits of an f32 or f64 without its sign.
namespace kernels {

template <typename Bits>
struct FloatBits;
template <>
struct FloatBits<std::uint32_t> {
    static constexpr int fraction = 23;
    static constexpr int bias = 127;
    static constexpr std::uint32_t infinity = 0x7f800000u;
};
template <>
struct FloatBits<std::uint64_t> {
    static constexpr int fraction = 52;
    static constexpr int bias = 1023;
    static constexpr std::uint64_t infinity = 0x7ff0000000000000u;
};

/// Slots of the counters: the bins, then these.
inline constexpr int zero_slot = ExponentCounts::bin_count;
inline constexpr int below_slot = zero_slot + 1;
inline constexpr int infinite_slot = zero_slot + 2;
inline constexpr int nan_slot = zero_slot + 3;
inline constexpr int slot_count = zero_slot + 4;

/// Slot for the biased exponent of a finite value. The subnormals of f32 and f64, whose biased
/// exponent is 0, lie below the first bin. The caller handles 0, which has the same exponent.
template <typename Bits>
HALFTONE_HOST_DEVICE constexpr int slot_of_exponent(int biased) {
    const int exponent = biased - FloatBits<Bits>::bias;
    if (exponent < ExponentCounts::first_exponent) return below_slot;
    const int bin = exponent - ExponentCounts::first_exponent;
    return bin < ExponentCounts::bin_count ? bin : ExponentCounts::bin_count - 1;
}

template <typename Bits>
HALFTONE_HOST_DEVICE constexpr int slot_of(Bits magnitude) {
    if (magnitude == 0) return zero_slot;
    if (magnitude > FloatBits<Bits>::infinity) return nan_slot;
    if (magnitude == FloatBits<Bits>::infinity) return infinite_slot;
    return slot_of_exponent<Bits>(static_cast<int>(magnitude >> FloatBits<Bits>::fraction));
}

/// The counter of a slot.
HALFTONE_HOST_DEVICE inline std::int64_t* counter_of(ExponentCounts* counts, int slot) {
    if (slot < ExponentCounts::bin_count) return counts->bins + slot;
    if (slot == zero_slot) return &counts->zero;
    if (slot == below_slot) return &counts->below;
    return slot == infinite_slot ? &counts->infinite : &counts->nan;
}

}  // namespace kernels
