#include "kernels/quantized_matrix.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <vector>

#include "cpu/grain.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/quantized_matrix.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

#ifndef KERNELS_CPU_QUANTIZED_MATRIX_ONCE
#define KERNELS_CPU_QUANTIZED_MATRIX_ONCE
namespace kernels::cpu {
namespace {

constexpr std::int32_t f32_infinity_bits = 0x7f800000;

/// A layout as the loops use it, in bits of f32.
struct CodeConstants {
    explicit CodeConstants(FloatLayout layout)
        : fraction(layout.fraction_bits),
          sign_shift(31 - layout.exponent_bits - layout.fraction_bits),
          smallest_exponent(128 - layout.bias()),
          largest_code(static_cast<std::int32_t>(layout.largest())),
          infinity_code(static_cast<std::int32_t>(
              to_small_float(std::bit_cast<float>(f32_infinity_bits), layout, Saturate::finite))),
          nan_code(static_cast<std::int32_t>(small_float_nan(0, layout))),
          nan_has_no_sign(layout.special == Special::none) {
        const float value = from_small_float(layout.largest(), layout);
        largest_bits = std::bit_cast<std::int32_t>(value);
        // The middle between the largest value and the next, which is beyond it unless the largest
        // is even.
        overflow_bits = largest_bits + (1 << (22 - fraction)) - (largest_code % 2 == 0 ? 0 : 1);
    }

    int fraction, sign_shift;
    std::int32_t smallest_exponent;  ///< biased as in f32, of the smallest normal value
    std::int32_t largest_code, infinity_code, nan_code;
    bool nan_has_no_sign;  ///< NaN becomes the largest value
    std::int32_t largest_bits;
    std::int32_t overflow_bits;  ///< the largest that does not round to more than the largest
};

/// Ranges of a part of a block.
struct ColumnRanges {
    std::vector<std::int32_t> all, finite;  // largest bits of each column
    explicit ColumnRanges(std::int64_t cols)
        : all(static_cast<std::size_t>(cols)), finite(static_cast<std::size_t>(cols)) {}
    void clear() {
        std::ranges::fill(all, 0);
        std::ranges::fill(finite, 0);
    }
};

}  // namespace
}  // namespace kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

using VI = hn::Vec<DI>;
using DB = hn::Rebind<std::uint8_t, DI>;

HWY_INLINE VI magnitude_bits(VF x) {
    return hn::And(hn::BitCast(DI(), x), hn::Set(DI(), 0x7fffffff));
}

/// Widens the ranges of the columns by one row.
template <class T>
void widen_row(ColumnRanges& ranges, const T* x, std::int64_t n) {
    const DI i32;
    const VI infinity = hn::Set(i32, f32_infinity_bits);
    const std::int64_t lanes = lane_count();
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const VI bits = magnitude_bits(load(x + i));
        std::int32_t *const all = ranges.all.data() + i, *const finite = ranges.finite.data() + i;
        hn::StoreU(hn::Max(hn::LoadU(i32, all), bits), i32, all);
        const VI kept = hn::IfThenElseZero(hn::Lt(bits, infinity), bits);
        hn::StoreU(hn::Max(hn::LoadU(i32, finite), kept), i32, finite);
    }
    HWY_ALIGN std::int32_t rest[HWY_MAX_BYTES / sizeof(float)];
    if (i == n) return;
    hn::StoreU(magnitude_bits(load_part(x + i, static_cast<std::size_t>(n - i))), i32, rest);
    for (std::int64_t k = 0; i < n; ++i, ++k) {
        const auto at = static_cast<std::size_t>(i);
        ranges.all[at] = std::max(ranges.all[at], rest[k]);
        if (rest[k] < f32_infinity_bits) ranges.finite[at] = std::max(ranges.finite[at], rest[k]);
    }
}

void widen_rows(ColumnRanges& ranges, const ConstMatrix& x, std::int64_t first,
                std::int64_t last) {
    with_vector_type(x.dtype, [&](auto type) {
        const auto* data = static_cast<const decltype(type)*>(x.data);
        for (std::int64_t row = first; row < last; ++row)
            widen_row(ranges, data + row * x.ld, x.cols);
    });
}

/// Counts by lane.
struct LaneCounts {
    VI nonzero, zeroed, saturated, nonfinite;

    LaneCounts()  // spelled out: an implicit one would be compiled for the baseline
        : nonzero(hn::Zero(DI())),
          zeroed(hn::Zero(DI())),
          saturated(hn::Zero(DI())),
          nonfinite(hn::Zero(DI())) {}

    template <class M>
    static HWY_INLINE VI plus(VI count, M mask) {
        return hn::Sub(count, hn::VecFromMask(DI(), mask));
    }
    CastCounts sums() const {
        const auto sum = [](VI v) HWY_ATTR {
            return static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(DI(), v)));
        };
        return {sum(nonzero), sum(zeroed), sum(saturated), sum(nonfinite)};
    }
};

/// Codes of x * factor.
HWY_INLINE VI to_codes(VF x, VF factor, const CodeConstants& c, LaneCounts& counts) {
    const DI i32;
    const VF scaled = hn::Mul(x, factor);
    const VI bits = magnitude_bits(scaled);
    const VI held = hn::Min(bits, hn::Set(i32, c.largest_bits));
    const VI smallest = hn::Set(i32, c.smallest_exponent);
    const VI exponent = hn::Max(hn::ShiftRight<23>(held), smallest);
    // A power of two so large that adding it rounds the value to the format's fraction, whose
    // last bits the sum then holds.
    const VI adder = hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(i32, 23 - c.fraction)));
    const VF sum = hn::Add(hn::BitCast(DF(), held), hn::BitCast(DF(), adder));
    VI code = hn::Add(hn::Sub(hn::BitCast(i32, sum), adder),
                      hn::ShiftLeftSame(hn::Sub(exponent, smallest), c.fraction));
    const VI infinity = hn::Set(i32, f32_infinity_bits);
    const auto special = hn::Gt(bits, hn::Set(i32, f32_infinity_bits - 1));
    const auto is_nan = hn::Gt(bits, infinity);
    code = hn::IfThenElse(special, hn::Set(i32, c.infinity_code), code);
    code = hn::IfThenElse(is_nan, hn::Set(i32, c.nan_code), code);
    const auto nonzero = hn::Gt(magnitude_bits(x), hn::Zero(i32));
    counts.nonzero = LaneCounts::plus(counts.nonzero, nonzero);
    counts.zeroed =
        LaneCounts::plus(counts.zeroed, hn::And(nonzero, hn::Eq(code, hn::Zero(i32))));
    counts.nonfinite = LaneCounts::plus(counts.nonfinite, special);
    counts.saturated = LaneCounts::plus(
        counts.saturated, hn::AndNot(special, hn::Gt(bits, hn::Set(i32, c.overflow_bits))));
    const auto u32_bits = hn::BitCast(DU(), scaled);
    VI sign = hn::BitCast(i32, hn::ShiftLeftSame(hn::ShiftRight<31>(u32_bits), 31 - c.sign_shift));
    if (c.nan_has_no_sign) sign = hn::IfThenZeroElse(is_nan, sign);
    return hn::Or(code, sign);
}

template <class T>
void quantize_row(std::uint8_t* codes, const T* x, const float* factors, std::int64_t n,
                  const CodeConstants& c, LaneCounts& counts) {
    const std::int64_t lanes = lane_count();
    const DB bytes;
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const VI code = to_codes(load(x + i), hn::LoadU(DF(), factors + i), c, counts);
        hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + i);
    }
    if (i == n) return;
    const auto rest = static_cast<std::size_t>(n - i);
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES / sizeof(float)];
    const VI code = to_codes(load_part(x + i, rest), load_part(factors + i, rest), c, counts);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, last);
    for (std::int64_t k = 0; k < lanes && i + k < n; ++k) codes[i + k] = last[k];
}

CastCounts quantize_rows(std::uint8_t* codes, const ConstMatrix& x, const float* factors,
                         std::int64_t first, std::int64_t last, const CodeConstants& c) {
    LaneCounts counts;
    with_vector_type(x.dtype, [&](auto type) {
        const auto* data = static_cast<const decltype(type)*>(x.data);
        for (std::int64_t row = first; row < last; ++row)
            quantize_row(codes + row * x.cols, data + row * x.ld, factors, x.cols, c, counts);
    });
    return counts.sums();
}

HWY_INLINE VF from_codes(VI code, const CodeConstants& c) {
    const DI i32;
    const VI mask = hn::Set(i32, (1 << (31 - c.sign_shift)) - 1);
    const VI magnitude = hn::And(code, mask);
    const int dropped = 23 - c.fraction;
    const VI shifted = hn::ShiftLeftSame(magnitude, dropped);
    const VI normal = hn::Add(shifted, hn::Set(i32, (c.smallest_exponent - 1) << 23));
    const VF unit = hn::BitCast(DF(), hn::Set(i32, (c.smallest_exponent - c.fraction) << 23));
    const VI subnormal = hn::BitCast(i32, hn::Mul(hn::ConvertTo(DF(), magnitude), unit));
    const VI special = hn::Or(shifted, hn::Set(i32, f32_infinity_bits));
    VI bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(i32, 1 << c.fraction)), subnormal, normal);
    bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(i32, c.largest_code)), special, bits);
    const VI sign = hn::ShiftLeftSame(hn::AndNot(mask, code), c.sign_shift);
    return hn::BitCast(DF(), hn::Or(bits, sign));
}

template <class T>
void decode_row(T* y, const std::uint8_t* codes, const float* factors, std::int64_t n,
                const CodeConstants& c) {
    const std::int64_t lanes = lane_count();
    const DB bytes;
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const VI code = hn::PromoteTo(DI(), hn::LoadU(bytes, codes + i));
        store(hn::Mul(from_codes(code, c), hn::LoadU(DF(), factors + i)), y + i);
    }
    if (i == n) return;
    const auto rest = static_cast<std::size_t>(n - i);
    HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES / sizeof(float)] = {};
    for (std::int64_t k = 0; k < lanes && i + k < n; ++k) last[k] = codes[i + k];
    const VI code = hn::PromoteTo(DI(), hn::LoadU(bytes, last));
    store_part(hn::Mul(from_codes(code, c), load_part(factors + i, rest)), y + i, rest);
}

void decode_rows(const Matrix& y, const std::uint8_t* codes, const float* factors,
                 std::int64_t first, std::int64_t last, const CodeConstants& c) {
    with_vector_type(y.dtype, [&](auto type) {
        auto* data = static_cast<decltype(type)*>(y.data);
        for (std::int64_t row = first; row < last; ++row)
            decode_row(data + row * y.ld, codes + row * y.cols, factors, y.cols, c);
    });
}

void scale_rows(const Matrix& y, const float* sums, float factor, const void* bias, bool relu,
                std::int64_t first, std::int64_t last) {
    with_vector_type(y.dtype, [&](auto type) {
        using T = decltype(type);
        auto* data = static_cast<T*>(y.data);
        const auto* added = static_cast<const T*>(bias);
        const VF scale = hn::Set(DF(), factor);
        for (std::int64_t row = first; row < last; ++row) {
            T* out = data + row * y.ld;
            const float* in = sums + row * y.cols;
            for_each_vector(y.cols, [&](std::int64_t i, auto part) HWY_ATTR {
                VF value = hn::Mul(part.load(in + i), scale);
                if (added != nullptr) value = hn::Add(value, part.load(added + i));
                part.store(relu ? relu_of(value) : value, out + i);
            });
        }
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(widen_rows);
HWY_EXPORT(quantize_rows);
HWY_EXPORT(decode_rows);
HWY_EXPORT(scale_rows);

/// Rows that one thread measures together: those of a block, or a part of a tall one.
constexpr std::int64_t part_rows = 128;

/// The factors of a row of blocks by column.
void spread(std::vector<float>& columns, const float* factors, const Blocks& blocks,
            std::int64_t block_row) {
    const float* own = factors + block_row * blocks.across();
    for (std::int64_t col = 0; col < blocks.cols; col += blocks.block_cols)
        std::fill_n(columns.begin() + col, std::min(blocks.block_cols, blocks.cols - col), *own++);
}

/// f(columns, first, last) for the rows from `first` to `last` of each row of blocks.
template <class F>
void for_each_row_of_blocks(const Blocks& blocks, const float* factors, const F& f) {
    parallel_for(blocks.rows, row_grain(blocks.cols), [&](std::int64_t begin, std::int64_t end) {
        std::vector<float> columns(static_cast<std::size_t>(blocks.cols));
        for (std::int64_t row = begin; row < end;) {
            const std::int64_t block_row = row / blocks.block_rows;
            const std::int64_t last = std::min(end, (block_row + 1) * blocks.block_rows);
            spread(columns, factors, blocks, block_row);
            f(columns.data(), row, last);
            row = last;
        }
    });
}

void widen(BlockRange& range, std::int32_t all, std::int32_t finite) {
    range.amax = std::max(range.amax, std::bit_cast<float>(finite));
    range.nonfinite |= all >= f32_infinity_bits;
}

}  // namespace

void block_ranges(BlockRange* ranges, ConstMatrix x, const Blocks& blocks) {
    assert(!x.transposed);
    std::fill_n(ranges, blocks.count(), BlockRange{});
    const std::int64_t tall = std::min(blocks.block_rows, part_rows);
    const std::int64_t parts = (blocks.block_rows + tall - 1) / tall;  // of a row of blocks
    const std::int64_t across = blocks.across();
    std::vector<BlockRange> part_ranges(static_cast<std::size_t>(blocks.down() * parts * across));
    parallel_for(blocks.down() * parts, row_grain(blocks.cols * tall),
                 [&](std::int64_t begin, std::int64_t end) {
                     ColumnRanges columns(blocks.cols);
                     for (std::int64_t part = begin; part < end; ++part) {
                         const std::int64_t block = part / parts * blocks.block_rows;
                         const std::int64_t first = block + part % parts * tall;
                         const std::int64_t last = std::min(
                             {first + tall, block + blocks.block_rows, blocks.rows});
                         columns.clear();
                         HWY_DYNAMIC_DISPATCH(widen_rows)(columns, x, first, last);
                         for (std::int64_t col = 0; col < blocks.cols; ++col) {
                             const auto at = static_cast<std::size_t>(col);
                             widen(part_ranges[static_cast<std::size_t>(
                                       part * across + col / blocks.block_cols)],
                                   columns.all[at], columns.finite[at]);
                         }
                     }
                 });
    for (std::int64_t i = 0; i < std::ssize(part_ranges); ++i) {
        const BlockRange& part = part_ranges[static_cast<std::size_t>(i)];
        BlockRange& own = ranges[i / (parts * across) * across + i % across];
        own.amax = std::max(own.amax, part.amax);
        own.nonfinite |= part.nonfinite;
    }
}

namespace {

float as_float(float value) { return value; }
float as_float(Half value) { return to_float(value); }
float as_float(BFloat16 value) { return to_float(value); }

/// f(data) with the stored type of x.
template <class F>
void with_elements(const ConstMatrix& x, const F& f) {
    if (x.dtype == DType::f32) f(static_cast<const float*>(x.data));
    if (x.dtype == DType::f16) f(static_cast<const Half*>(x.data));
    if (x.dtype == DType::bf16) f(static_cast<const BFloat16*>(x.data));
}

/// to_small_float_at_random(), faster.
struct RandomRounding {
    CodeConstants c;
    FloatLayout layout;

    std::uint8_t code(float scaled, std::uint32_t random, CastCounts& counts) const {
        const auto bits = std::bit_cast<std::int32_t>(scaled);
        const std::int32_t magnitude = bits & 0x7fffffff;
        if (magnitude >= f32_infinity_bits) {
            ++counts.nonfinite;
            return static_cast<std::uint8_t>(to_small_float(scaled, layout, Saturate::finite));
        }
        counts.saturated += magnitude > c.largest_bits ? 1 : 0;
        const std::int32_t held = std::min(magnitude, c.largest_bits);
        const std::int32_t exponent = std::max(held >> 23, c.smallest_exponent);
        // In units of the distance to the next value, which is a power of two.
        const float units = std::bit_cast<float>((254 + c.fraction - exponent) << 23);
        const float size = std::bit_cast<float>(held) * units;
        const auto low = static_cast<std::int32_t>(size);
        const bool up = static_cast<float>(random) < (size - static_cast<float>(low)) * 65536.0f;
        const std::int32_t magnitude_code =
            low + ((exponent - c.smallest_exponent) << c.fraction) + (up ? 1 : 0);
        const std::int32_t sign = bits < 0 ? 1 << (31 - c.sign_shift) : 0;
        return static_cast<std::uint8_t>(magnitude_code | sign);
    }
};

CastCounts round_rows_at_random(std::uint8_t* codes, const ConstMatrix& x, const float* columns,
                                std::int64_t first, std::int64_t last, FloatLayout layout,
                                const RandomRoundingWords& random) {
    CastCounts counts;
    const RandomRounding rounding{CodeConstants(layout), layout};
    with_elements(x, [&](const auto* data) {
        PhiloxBlock words{};
        std::uint64_t block = ~std::uint64_t{0};
        for (std::int64_t row = first; row < last; ++row)
            for (std::int64_t col = 0; col < x.cols; ++col) {
                const auto i = static_cast<std::uint64_t>(row * x.cols + col);
                const std::uint64_t number = random.element + i;
                const std::uint64_t word = random.first + number / 2;
                if (word / 4 != block) words = random.stream.block(block = word / 4);
                const std::uint32_t both = words[word % 4];
                const float value = as_float(data[row * x.ld + col]);
                codes[i] = rounding.code(value * columns[col],
                                         number % 2 == 0 ? both & 0xffffu : both >> 16, counts);
                counts.nonzero += value != 0 ? 1 : 0;
                counts.zeroed += value != 0 && (codes[i] & layout.mask()) == 0 ? 1 : 0;
            }
    });
    return counts;
}

}  // namespace

CastCounts quantize_blocks(std::uint8_t* codes, ConstMatrix x, const Blocks& blocks,
                           const float* factors, FloatLayout layout,
                           const RandomRoundingWords* random) {
    assert(!x.transposed);
    const CodeConstants constants(layout);
    std::atomic<std::int64_t> nonzero = 0, zeroed = 0, saturated = 0, nonfinite = 0;
    for_each_row_of_blocks(
        blocks, factors, [&](const float* columns, std::int64_t first, std::int64_t last) {
            const CastCounts here =
                random != nullptr
                    ? round_rows_at_random(codes, x, columns, first, last, layout, *random)
                    : HWY_DYNAMIC_DISPATCH(quantize_rows)(codes, x, columns, first, last, constants);
            nonzero += here.nonzero;
            zeroed += here.zeroed;
            saturated += here.saturated;
            nonfinite += here.nonfinite;
        });
    return {nonzero, zeroed, saturated, nonfinite};
}

void rotate_rows(Matrix y, ConstMatrix x) {
    constexpr std::int64_t size = 16;
    constexpr float signs[size] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
    assert(!x.transposed && y.dtype == DType::bf16 && y.rows % size == 0);
    auto* const out = static_cast<BFloat16*>(y.data);
    parallel_for(y.rows / size, row_grain(x.cols * size), [&](std::int64_t begin, std::int64_t end) {
        with_elements(x, [&](const auto* data) {
            for (std::int64_t group = begin; group < end; ++group)
                for (std::int64_t col = 0; col < x.cols; ++col) {
                    float values[size];
                    for (std::int64_t i = 0; i < size; ++i) {
                        const std::int64_t row = group * size + i;
                        values[i] = row < x.rows ? signs[i] * as_float(data[row * x.ld + col]) : 0;
                    }
                    for (std::int64_t half = 1; half < size; half *= 2)
                        for (std::int64_t i = 0; i < size; ++i) {
                            if ((i & half) != 0) continue;
                            const float a = values[i], b = values[i + half];
                            values[i] = a + b;
                            values[i + half] = a - b;
                        }
                    for (std::int64_t i = 0; i < size; ++i)
                        out[(group * size + i) * y.ld + col] = to_bfloat16(values[i] * 0.25f);
                }
        });
    });
}

void decode_blocks(Matrix y, const std::uint8_t* codes, const Blocks& blocks, const float* factors,
                   FloatLayout layout) {
    const CodeConstants constants(layout);
    for_each_row_of_blocks(
        blocks, factors, [&](const float* columns, std::int64_t first, std::int64_t last) {
            HWY_DYNAMIC_DISPATCH(decode_rows)(y, codes, columns, first, last, constants);
        });
}

void scale_sums(Matrix y, const float* sums, float factor, const void* bias, bool relu) {
    parallel_for(y.rows, row_grain(y.cols), [&](std::int64_t begin, std::int64_t end) {
        HWY_DYNAMIC_DISPATCH(scale_rows)(y, sums, factor, bias, relu, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
