#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include "cpu/grain.h"
#include "cpu/multi_tensor_pieces.h"
#include "kernels/exponent_histogram.h"
#include "kernels/parallel.h"
#include "shared/exponent_histogram.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/exponent_histogram.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

#ifndef KERNELS_CPU_EXPONENT_HISTOGRAM_ONCE
#define KERNELS_CPU_EXPONENT_HISTOGRAM_ONCE
namespace kernels::cpu {
namespace {

/// Counts of a range of values.
struct Exponents {
    std::array<std::int64_t, slot_count> slots{};
    std::uint64_t largest = 0;
    std::uint64_t smallest_inverted = 0;

    void add_magnitude(std::uint64_t bits) {
        if (bits == 0 || bits >= FloatBits<std::uint64_t>::infinity) return;
        largest = std::max(largest, bits);
        smallest_inverted = std::max(smallest_inverted, ~bits);
    }
    void add_float(float value) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
        ++slots[static_cast<std::size_t>(slot_of(bits))];
        add_magnitude(
            std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(bits))));
    }
    void add_double(double value) {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) & 0x7fffffffffffffffu;
        ++slots[static_cast<std::size_t>(slot_of(bits))];
        add_magnitude(bits);
    }
    void add_to(ExponentCounts& counts) const {
        for (std::size_t bin = 0; bin < ExponentCounts::bin_count; ++bin)
            counts.bins[bin] += slots[bin];
        for (int slot = ExponentCounts::bin_count; slot < slot_count; ++slot)
            *counter_of(&counts, slot) += slots[static_cast<std::size_t>(slot)];
        counts.largest = std::max(counts.largest, largest);
        counts.smallest_inverted = std::max(counts.smallest_inverted, smallest_inverted);
    }
};

/// Counts values by their biased exponent. Neighbouring values use different tables: they often
/// have the same exponent, and an increment would wait for the previous store.
class ExponentTables {
public:
    /// Eight biased exponents.
    void add(std::uint64_t exponents) {
        for (std::size_t k = 0; k < tables_.size(); ++k)
            ++tables_[k][(exponents >> (8 * k)) & 0xffu];
    }
    std::int64_t count(std::size_t biased) const {
        std::int64_t sum = 0;
        for (const auto& table : tables_) sum += table[biased];
        return sum;
    }

private:
    std::array<std::array<std::uint32_t, 256>, 8> tables_{};
};

}  // namespace
}  // namespace kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

using VI = hn::Vec<DI>;

/// Figures that the exponents alone do not give. For at most piece_size values: 32 bits suffice.
struct Extremes {
    VI zeros, nans, largest, smallest;

    Extremes()  // spelled out: an implicit one would be compiled for the baseline
        : zeros(hn::Zero(DI())),
          nans(hn::Zero(DI())),
          largest(hn::Zero(DI())),
          smallest(hn::Set(DI(), 0x7fffffff)) {}

    HWY_INLINE void add(VI magnitude) {
        const DI i32;
        const VI one = hn::Set(i32, 1), infinity = hn::Set(i32, 0x7f800000);
        const auto is_zero = hn::Eq(magnitude, hn::Zero(i32));
        zeros = hn::Add(zeros, hn::IfThenElseZero(is_zero, one));
        nans = hn::Add(nans, hn::IfThenElseZero(hn::Gt(magnitude, infinity), one));
        largest = hn::Max(largest, hn::IfThenElseZero(hn::Lt(magnitude, infinity), magnitude));
        smallest = hn::Min(smallest, hn::IfThenElse(is_zero, hn::Set(i32, 0x7fffffff), magnitude));
    }
    void add_to(Exponents& counts, const ExponentTables& tables) const {
        const DI i32;
        const std::int64_t zero = hn::GetLane(hn::SumOfLanes(i32, zeros));
        const std::int64_t nan = hn::GetLane(hn::SumOfLanes(i32, nans));
        counts.slots[zero_slot] += zero;
        counts.slots[nan_slot] += nan;
        counts.slots[below_slot] += tables.count(0) - zero;
        counts.slots[infinite_slot] += tables.count(255) - nan;
        for (std::size_t biased = 1; biased < 255; ++biased)
            counts.slots[static_cast<std::size_t>(
                slot_of_exponent<std::uint32_t>(static_cast<int>(biased)))] += tables.count(biased);
        for (const VI extreme : {hn::MaxOfLanes(i32, largest), hn::MinOfLanes(i32, smallest)}) {
            const float value = std::bit_cast<float>(hn::GetLane(extreme));
            counts.add_magnitude(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
        }
    }
};

/// The biased exponents of eight vectors, eight values to a word.
template <class T>
HWY_INLINE void add_eight(Extremes& extremes, ExponentTables& tables, const T* x) {
    const DI i32;
    const hn::Rebind<std::uint8_t, DI> u8;
    const std::size_t lanes = hn::Lanes(i32);
    HWY_ALIGN std::uint8_t exponents[8 * HWY_MAX_BYTES / sizeof(float)];
    for (std::size_t k = 0; k < 8; ++k) {
        const VI magnitude =
            hn::And(hn::BitCast(i32, load(x + k * lanes)), hn::Set(i32, 0x7fffffff));
        extremes.add(magnitude);
        hn::StoreU(hn::DemoteTo(u8, hn::ShiftRight<23>(magnitude)), u8, exponents + k * lanes);
    }
    for (std::size_t k = 0; k < lanes; ++k) {
        std::uint64_t word = 0;
        std::memcpy(&word, exponents + 8 * k, sizeof word);
        tables.add(word);
    }
}

/// Fewer values than this are counted one by one: clearing the eight tables of 256 and adding them
/// up costs about as much as counting a thousand values.
inline constexpr std::int64_t min_for_tables = 1024;

/// Counts any values.
template <class T>
HWY_NOINLINE void count_any(Exponents& counts, const T* x, std::int64_t n) {
    const std::int64_t step = 8 * lane_count();
    std::int64_t i = 0;
    if (n >= std::max(step, min_for_tables)) {
        Extremes extremes;
        ExponentTables tables;
        for (; i + step <= n; i += step) add_eight(extremes, tables, x + i);
        extremes.add_to(counts, tables);
    }
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)];
    while (i < n) {
        const std::int64_t here = std::min(lane_count(), n - i);
        const VF values =
            here == lane_count() ? load(x + i) : load_part(x + i, static_cast<std::size_t>(here));
        hn::StoreU(values, DF(), rest);
        for (std::int64_t k = 0; k < here; ++k) counts.add_float(rest[k]);
        i += here;
    }
}

using DB = hn::ScalableTag<std::uint8_t>;

/// Values whose exponents are written down, a byte each, before they are counted. The bytes stay in
/// the nearest cache.
inline constexpr std::int64_t chunk_size = 4096;
/// Exponents that are counted in one pass over a chunk, and the most passes: more would take longer
/// than the tables.
inline constexpr std::uint32_t window = 4, max_windows = 12;

/// Counts the bytes that are first, first + 1, ...; the sum of these counts.
template <std::size_t... k>
HWY_INLINE std::size_t count_window(Exponents& counts, const std::uint8_t* exponents, std::size_t n,
                                    std::uint32_t first, std::index_sequence<k...>) {
    const DB bytes;
    // No byte is 255: that is the exponent of infinities.
    const hn::Vec<DB> wanted[] = {
        hn::Set(bytes, static_cast<std::uint8_t>(std::min<std::uint32_t>(first + k, 255)))...};
    std::size_t found[sizeof...(k)] = {};
    for (std::size_t i = 0; i < n; i += hn::Lanes(bytes)) {
        const auto here = hn::Load(bytes, exponents + i);
        ((found[k] += hn::CountTrue(bytes, hn::Eq(here, wanted[k]))), ...);
    }
    ((counts.slots[static_cast<std::size_t>(slot_of_exponent<std::uint32_t>(
          static_cast<int>(first + k)))] += static_cast<std::int64_t>(found[k])),
     ...);
    return (found[k] + ...);
}

/// The bits of a chunk's extremes.
struct Scan {
    std::uint32_t largest;
    std::uint32_t smallest;  // of the values that are not 0
};
/// Writes the biased exponents of a chunk.
template <class T>
HWY_INLINE Scan scan(std::uint8_t* exponents, const T* x, std::int64_t n) {
    const DI i32;
    const DU u32;
    const hn::Rebind<std::uint8_t, DI> bytes;
    auto largest = hn::Zero(u32);
    auto smallest = hn::Set(u32, 0xffffffffu);  // less 1, so that 0 is above all others
    for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
        const VI magnitude = hn::And(hn::BitCast(i32, part.load(x + i)), hn::Set(i32, 0x7fffffff));
        largest = hn::Max(largest, hn::BitCast(u32, magnitude));
        smallest = hn::Min(smallest, hn::BitCast(u32, hn::Sub(magnitude, hn::Set(i32, 1))));
        hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<23>(magnitude)), bytes, exponents + i);
    });
    return {hn::GetLane(hn::MaxOfLanes(u32, largest)),
            hn::GetLane(hn::MinOfLanes(u32, smallest)) + 1};
}

/// Counts at most chunk_size values if they are finite, not subnormal in f32 and of few exponents,
/// as in nearly every tensor of a training step. Otherwise counts nothing and returns false.
template <class T>
HWY_INLINE bool count_few_exponents(Exponents& counts, const T* x, std::int64_t n) {
    const std::size_t size = static_cast<std::size_t>(n), width = hn::Lanes(DB());
    HWY_ALIGN std::uint8_t exponents[chunk_size + HWY_MAX_BYTES];
    hn::Store(hn::Zero(DB()), DB(), exponents + size / width * width);
    const Scan found = scan(exponents, x, n);
    std::size_t nonzero = 0;
    if (found.largest != 0) {
        const std::uint32_t first = found.smallest >> 23, last = found.largest >> 23;
        if (first == 0 || last == 255 || last - first >= window * max_windows) return false;
        for (std::uint32_t from = first; from <= last; from += window)
            nonzero +=
                count_window(counts, exponents, size, from, std::make_index_sequence<window>());
        for (const std::uint32_t bits : {found.smallest, found.largest})
            counts.add_magnitude(
                std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(bits))));
    }
    counts.slots[zero_slot] += static_cast<std::int64_t>(size - nonzero);
    return true;
}

template <class T>
HWY_NOINLINE void count_vectors(Exponents& counts, const T* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += chunk_size) {
        const std::int64_t here = std::min(chunk_size, n - i);
        if (!count_few_exponents(counts, x + i, here)) count_any(counts, x + i, here);
    }
}

void count_range(Exponents& counts, const ConstArray& x, std::int64_t first, std::int64_t n) {
    with_vector_type(x.dtype, [&](auto type) {
        count_vectors(counts, static_cast<const decltype(type)*>(x.data) + first, n);
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(count_range);

void count_piece(Exponents& counts, const ConstArray& x, std::int64_t first, std::int64_t n) {
    if (x.dtype != DType::f64) {
        HWY_DYNAMIC_DISPATCH(count_range)(counts, x, first, n);
        return;
    }
    const double* values = static_cast<const double*>(x.data) + first;
    for (std::int64_t i = 0; i < n; ++i) counts.add_double(values[i]);
}

}  // namespace

void count_exponents(ExponentCounts* counts, ConstArray x, Stream) {
    std::mutex mutex;
    parallel_for(x.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        Exponents mine;
        for (std::int64_t first = begin; first < end; first += piece_size)
            count_piece(mine, x, first, std::min(piece_size, end - first));
        const std::lock_guard lock(mutex);
        mine.add_to(*counts);
    });
}

}  // namespace kernels::cpu
#endif
